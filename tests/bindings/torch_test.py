"""PyTorch with the package `relaxc`: exported programs, and the backend of torch.compile, next to PyTorch's own results.
Where there is no PyTorch, or no onnxscript, the test is skipped and says so.

Usage: torch_test.py BUILD REPOSITORY [unittest's own]"""

import os
import sys
import tempfile
import unittest
import warnings
from pathlib import Path

BUILD, ROOT = Path(sys.argv.pop(1)).resolve(), Path(sys.argv.pop(1)).resolve()
sys.path[:0] = [str(ROOT / "packaging/python"), str(ROOT / "runtime-lite/python"), str(ROOT / "packaging")]
os.environ["RELAXC_PREFIX"] = str(BUILD)
os.environ["RELAX_RT_THREADS"] = str(BUILD / "lib/relaxc/librelax_rt_threads.so")

try:
    import onnxscript  # noqa: F401
    import torch
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

import relaxc  # noqa: E402
import wheel  # noqa: E402
from torch import nn  # noqa: E402

# What an installed wheel says of itself. PyTorch looks for backends once a process.
SITE = tempfile.TemporaryDirectory()
wheel.dist_info(SITE.name)
sys.path.insert(0, SITE.name)


class Digits(nn.Module):
    """A network with weights, a buffer that is not a parameter, and statistics."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.last = nn.Linear(128, 10)
        self.register_buffer("shift", torch.linspace(0, 1, 10))

    def forward(self, x, scale=2.0):
        y = nn.functional.max_pool2d(torch.relu(self.norm(self.conv(x))), 2)
        return (self.last(y.flatten(1)) + self.shift) * scale, x, x.shape[0]


class Torch(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        os.environ["RELAXC_CACHE"] = folder.name
        torch.manual_seed(1)
        torch._dynamo.reset()
        torch._dynamo.utils.counters.clear()
        mode = torch.no_grad()
        mode.__enter__()
        self.addCleanup(mode.__exit__, None, None, None)

    def compiled(self, function, **options):
        return torch.compile(function, backend=relaxc.torch_backend, options={"fallback": False, **options})

    def test_an_exported_program_keeps_names_and_open_dims(self):
        class Sum(nn.Module):
            def forward(self, left, right):
                return left @ right + 1

        left, right = torch.randn(3, 4), torch.randn(4, 5)
        program = torch.export.export(Sum(), (left, right), dynamic_shapes=({0: torch.export.Dim("rows")}, None))
        model = relaxc.compile(program)
        self.assertEqual([name for name, _, _ in model.inputs()], ["left", "right"])
        self.assertIsInstance(model.inputs()[0][2][0], str)
        for rows in (3, 7):
            left = torch.randn(rows, 4)
            torch.testing.assert_close(torch.from_numpy(model(left, right)[0]), Sum()(left, right))

    def test_arguments_that_are_numbers_are_fixed(self):
        class Scaled(nn.Module):
            def forward(self, x, factor, shift=None):
                return x * factor

        x = torch.randn(3)
        model = relaxc.compile(torch.export.export(Scaled(), (x, 2.5)))
        self.assertEqual([name for name, _, _ in model.inputs()], ["x"])
        torch.testing.assert_close(torch.from_numpy(model(x)[0]), x * 2.5)

    def test_the_backend_is_found_by_its_name(self):
        fast = torch.compile(lambda x: torch.sin(x) + 1, backend="relaxc", options={"fallback": False, "threads": 2})
        torch.testing.assert_close(fast(torch.ones(3)), torch.sin(torch.ones(3)) + 1)

    def test_a_module_is_asked_to_be_exported(self):
        with self.assertRaisesRegex(TypeError, "a Linear does not say what its inputs are; export it first"):
            relaxc.compile(nn.Linear(2, 2))

    def test_the_backend_computes_what_pytorch_does(self):
        net = Digits().eval()
        compiled = self.compiled(net)
        for batch, scale in ((2, 2.0), (5, 2.0), (9, 2.0), (9, 3.5), (4, 4.5)):
            x = torch.randn(batch, 1, 8, 8)
            logits, same, size = compiled(x, scale)
            torch.testing.assert_close(logits, net(x, scale)[0])
            self.assertIs(same, x)
            self.assertEqual(size, batch)

    def test_dtypes(self):
        function = lambda x: nn.functional.relu(x @ x.T) * 0.5  # noqa: E731
        for dtype in (torch.float64, torch.float16, torch.bfloat16):
            x = torch.randn(6, 6).to(dtype)
            torch.testing.assert_close(self.compiled(function)(x), function(x))
        integers = torch.arange(12, dtype=torch.int64).reshape(3, 4)
        torch.testing.assert_close(self.compiled(lambda x: x.t().cumsum(0) * 2)(integers), integers.t().cumsum(0) * 2)

    def test_a_model_in_several_graphs_says_why(self):
        def broken(x):
            y = torch.sin(x)
            print(end="")
            return torch.cos(y) + 1

        x = torch.randn(4)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            torch.testing.assert_close(self.compiled(broken)(x), broken(x))
        self.assertTrue(any("the model runs as several graphs: " in str(one.message) for one in caught))

    def test_what_is_refused_runs_in_pytorch_with_a_warning(self):
        def changes(x):
            x.add_(1)
            return x * 2

        x = torch.zeros(3)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            y = torch.compile(changes, backend=relaxc.torch_backend)(x)
        torch.testing.assert_close(x, torch.ones(3))
        torch.testing.assert_close(y, torch.full((3,), 2.0))
        self.assertTrue(any("in place" in str(one.message) for one in caught), [str(one.message) for one in caught])
        with self.assertRaisesRegex(Exception, "in place"):
            self.compiled(changes)(x)

    def test_training_is_refused(self):
        with torch.enable_grad(), self.assertRaisesRegex(Exception, "relaxc compiles for inference"):
            self.compiled(Digits().train())(torch.zeros(2, 1, 8, 8))


if __name__ == "__main__":
    unittest.main()
