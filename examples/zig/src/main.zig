//! Recognizes the twelve digits of examples/digits.
const std = @import("std");
const c = @cImport({
    @cInclude("digits.h");
    @cInclude("samples.h");
});

const classes = 10;
const Failed = error{Failed};

fn classify(images: []const f32, logits: []f32) Failed!void {
    std.debug.assert(images.len / 64 * classes == logits.len);
    var arena: c.digits_arena = undefined;
    var context = std.mem.zeroInit(c.rlx_context, .{
        .abi_version = c.RLX_ABI_VERSION,
        .struct_size = @sizeOf(c.rlx_context),
        .arena = @as(*anyopaque, @ptrCast(&arena)),
        .arena_bytes = @sizeOf(c.digits_arena),
    });
    const args = c.digits_args{ .image = images.ptr, .logits = logits.ptr, .n = @intCast(images.len / 64) };
    if (c.digits_run(&context, &args) != c.RLX_OK) return Failed.Failed;
}

pub fn main() !void {
    const images: [*]const f32 = @ptrCast(&c.sample_pixels);
    var logits: [c.SAMPLES * classes]f32 = undefined;
    try classify(images[0 .. c.SAMPLES * 64], &logits);
    var right: usize = 0;
    for (0..c.SAMPLES) |sample| {
        const best = std.mem.indexOfMax(f32, logits[sample * classes ..][0..classes]);
        if (best == @as(usize, @intCast(c.sample_truth[sample]))) right += 1;
    }
    std.debug.print("{d} of {d} right\n", .{ right, @as(usize, c.SAMPLES) });
}
