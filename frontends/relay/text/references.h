// references.h: reads Relay's references, which a program can write.
//
// A reference that is bound to a variable, read and written in one function is a name of the tree that is bound again
// by each write: reading it gives another name to the value that it has then, and a branch binds it in both sides. So
// the values are those of a program without references, and no memory belongs to them. A reference that leaves its
// function, as an argument, a result, a part of a tuple or data, or captured by a closure, is refused: which values it
// has then depends on the calls.
#pragma once

#include "frontends/relay/text/parts.h"

namespace relaxc::relay {

/// Whether the next expression is a reference: `ref(x)`, or a variable that stands for one and is all of it.
bool at_reference(const ReaderParts& reader);
/// Reads `ref(value)`, or a variable that stands for a reference. Returns the name that has the reference's value.
Expr read_reference(ReaderParts& reader);
/// Reads `ref_read(reference)`.
Expr read_from_reference(ReaderParts& reader);
/// Reads `ref_write(reference, value)`, whose own value is an empty tuple.
Expr read_write_to_reference(ReaderParts& reader);
/// At the end of a side of a branch, binds each of the function's references from outside of it again, so that both
/// sides do.
void keep_references(ReaderParts& reader, Place place);

}  // namespace relaxc::relay
