"""Handwritten digits from Python: loads the shared library and runs it on a NumPy array.

Usage: digits.py LIBRARY SAMPLES.H; relax_rt.py has to be on the path."""

import re
import sys

import numpy as np
import relax_rt

model = relax_rt.load(sys.argv[1])
text = open(sys.argv[2]).read()
truth, pixels = (np.array(re.findall(r"\d+", part.split("=", 1)[1]), np.float32)
                 for part in re.findall(r"static const .*?;", text, re.DOTALL))
logits, = model(image=pixels.reshape(-1, 1, 8, 8))
seen = logits.argmax(axis=1)
print(*seen)
print(f"{np.sum(seen == truth)} of {len(seen)} right")
