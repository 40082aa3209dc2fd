//! Compiles the network by relaxc and links it into a program. -Drelaxc names the program; its tree has the runtime.
const std = @import("std");

pub fn build(b: *std.Build) void {
    const relaxc = b.option([]const u8, "relaxc", "the relaxc to compile with") orelse "relaxc";
    const include = b.option([]const u8, "include", "the folder of relax_rt.h") orelse "/usr/include";
    const library = b.option([]const u8, "library", "the folder of librelax_rt.a") orelse "/usr/lib";

    const compile = b.addSystemCommand(&.{ relaxc, "--dim", "n=1..12" });
    compile.addFileArg(b.path("../digits/digits.onnx"));
    compile.addArg("-o");
    const object = compile.addOutputFileArg("digits.o");

    const module = b.createModule(.{
        .root_source_file = b.path("src/main.zig"),
        .target = b.standardTargetOptions(.{}),
        .optimize = b.standardOptimizeOption(.{}),
        .link_libc = true,
    });
    module.addObjectFile(object);
    module.addIncludePath(object.dirname()); // digits.h is written beside the object
    module.addIncludePath(b.path("../digits"));
    module.addIncludePath(.{ .cwd_relative = include });
    module.addLibraryPath(.{ .cwd_relative = library });
    module.linkSystemLibrary("relax_rt", .{});

    const program = b.addExecutable(.{ .name = "digits", .root_module = module });
    const run = b.addRunArtifact(program);
    b.step("run", "recognize the samples").dependOn(&run.step);
    b.installArtifact(program);
}
