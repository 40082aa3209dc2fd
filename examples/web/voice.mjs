// voice.mjs: asks the voice detector of examples/streaming for every 10 ms of the microphone whether somebody speaks.
//
// The detector takes frames of 160 samples, 16,000 a second. The browser converts the microphone's rate to that of the
// AudioContext; frames.mjs, which runs on the browser's audio thread, cuts the sound into frames. What the detector
// remembers between frames is in a stream.
import { load } from "./vad.mjs";

const RATE = 16000, FRAME = 160, THRESHOLD = 0.5;
const button = document.querySelector("#start"), answer = document.querySelector("#answer");
const meter = document.querySelector("#speech");

function show(speech) {
  meter.value = speech;
  const word = speech > THRESHOLD ? "speech" : "silence";
  if (answer.textContent !== word) answer.textContent = word;
}

/** Calls `heard` with each frame of the microphone. */
async function listen(heard) {
  const microphone = await navigator.mediaDevices.getUserMedia({ audio: { channelCount: 1 } });
  const context = new AudioContext({ sampleRate: RATE });
  await context.audioWorklet.addModule("frames.mjs");
  const frames = new AudioWorkletNode(context, "frames", { numberOfOutputs: 0, processorOptions: { samples: FRAME } });
  frames.port.onmessage = ({ data }) => heard(data);
  context.createMediaStreamSource(microphone).connect(frames);
}

const stream = (await load()).stream();
button.addEventListener("click", async () => {
  button.disabled = true;
  try {
    await listen((frame) => show(stream.run({ frame }).speech.data[0]));
  } catch (error) {
    answer.textContent = `There is no microphone: ${error.message}`;
    button.disabled = false;
  }
});
document.body.dataset.ready = "true";
