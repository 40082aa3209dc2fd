from ._compile import compile as compile
from ._library import CompileError as CompileError, Diagnostic as Diagnostic, version as version
from ._model import Model as Model, RlxError as RlxError, Stream as Stream, load as load
from ._session import IOBinding as IOBinding, InferenceSession as InferenceSession
from ._torch import backend as torch_backend

__version__: str
