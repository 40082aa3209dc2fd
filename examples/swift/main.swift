// Recognizes the twelve digits of examples/digits by the object that relaxc wrote of its network.
import CDigits

let pixels = 64
let classes = 10

struct Refused: Error {
  let status: Int32
}

/// Gives ten scores for each picture of 64 numbers, or throws the status of a call that the network refuses.
func classify(_ images: UnsafeBufferPointer<Float>, arena: UnsafeMutableRawBufferPointer) throws -> [Float] {
  let count = images.count / pixels
  var logits = [Float](repeating: 0, count: count * classes)
  let status = logits.withUnsafeMutableBufferPointer { scores -> Int32 in
    var context = digits_context()
    context.arena = arena.baseAddress
    context.arena_bytes = UInt64(arena.count)
    var arguments = digits_args()
    arguments.n = Int64(count)
    arguments.image = images.baseAddress
    arguments.logits = scores.baseAddress
    return digits_run(&context, &arguments)
  }
  if status != 0 { throw Refused(status: status) }
  return logits
}

let arena = UnsafeMutableRawBufferPointer.allocate(byteCount: MemoryLayout<digits_arena>.size, alignment: 64)
defer { arena.deallocate() }
let samples = Int(SAMPLES)
let images = UnsafeBufferPointer(start: digits_pixels(), count: samples * pixels)
let logits = try classify(images, arena: arena)
var right = 0
for sample in 0..<samples {
  let scores = logits[sample * classes..<(sample + 1) * classes]
  let best = scores.indices.max { scores[$0] < scores[$1] }! - sample * classes
  if best == Int(digits_truth(Int32(sample))) { right += 1 }
}
print("\(right) of \(samples) right")
