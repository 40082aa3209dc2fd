// frames.mjs: cuts sound into frames, on the browser's audio thread, which hands it over in blocks of 128 samples.
class Frames extends AudioWorkletProcessor {
  constructor({ processorOptions }) {
    super();
    this.frame = new Float32Array(processorOptions.samples);
    this.filled = 0;
  }

  /** Posts each frame that this block completes. Returns true, so that it is called again. */
  process([[block]]) {
    for (let at = 0; block && at < block.length; ) {
      const count = Math.min(block.length - at, this.frame.length - this.filled);
      this.frame.set(block.subarray(at, at + count), this.filled);
      this.filled += count;
      at += count;
      if (this.filled < this.frame.length) break;
      this.port.postMessage(this.frame);
      this.filled = 0;
    }
    return true;
  }
}

registerProcessor("frames", Frames);
