"""prelude.py: data types and functions of Relay's Prelude, as TVM prints them into a module that uses them."""

PRELUDE = """
type List[A] { Cons(A, List[A]), Nil, }
type Option[A] { Some(A), None, }
type Tree[A] { Rose(A, List[Tree[A]]), }
def @id[A](%x: A) -> A { %x }
def @compose[A, B, C](%f: fn(B) -> C, %g: fn(A) -> B) -> fn(A) -> C {
  fn (%x: A) -> C { %f(%g(%x)) }
}
def @hd[A](%xs: List[A]) -> A { match? (%xs) { Cons(%x, _) => %x, } }
def @tl[A](%xs: List[A]) -> List[A] { match? (%xs) { Cons(_, %rest) => %rest, } }
def @nth[A](%xs: List[A], %n: int32) -> A {
  if (equal(%n, 0)) { @hd(%xs) } else { @nth(@tl(%xs), subtract(%n, 1)) }
}
def @length[A](%xs: List[A]) -> int32 {
  match (%xs) { Cons(_, %rest) => add(1, @length(%rest)), Nil => 0, }
}
def @update[A](%xs: List[A], %n: int32, %v: A) -> List[A] {
  if (equal(%n, 0)) { Cons(%v, @tl(%xs)) } else { Cons(@hd(%xs), @update(@tl(%xs), subtract(%n, 1), %v)) }
}
def @map[A, B](%f: fn(A) -> B, %xs: List[A]) -> List[B] {
  match (%xs) { Cons(%x, %rest) => Cons(%f(%x), @map(%f, %rest)), Nil => Nil, }
}
def @foldl[A, B](%f: fn(A, B) -> A, %acc: A, %xs: List[B]) -> A {
  match (%xs) { Cons(%x, %rest) => @foldl(%f, %f(%acc, %x), %rest), Nil => %acc, }
}
def @foldr[A, B](%f: fn(A, B) -> B, %acc: B, %xs: List[A]) -> B {
  match (%xs) { Cons(%x, %rest) => %f(%x, @foldr(%f, %acc, %rest)), Nil => %acc, }
}
def @foldr1[A](%f: fn(A, A) -> A, %xs: List[A]) -> A {
  match? (%xs) { Cons(%x, Nil) => %x, Cons(%x, %rest) => %f(%x, @foldr1(%f, %rest)), }
}
def @concat[A](%xs: List[A], %ys: List[A]) -> List[A] {
  let %updater = fn(%x: A, %xss: List[A]) -> List[A] { Cons(%x, %xss) };
  @foldr(%updater, %ys, %xs)
}
def @filter[A](%f: fn(A) -> bool, %xs: List[A]) -> List[A] {
  match (%xs) {
    Cons(%x, %rest) => if (%f(%x)) { Cons(%x, @filter(%f, %rest)) } else { @filter(%f, %rest) },
    Nil => Nil,
  }
}
def @zip[A, B](%xs: List[A], %ys: List[B]) -> List[(A, B)] {
  match (%xs, %ys) {
    (Cons(%x, %xrest), Cons(%y, %yrest)) => Cons((%x, %y), @zip(%xrest, %yrest)),
    _ => Nil,
  }
}
def @rev[A](%xs: List[A]) -> List[A] {
  let %updater = fn(%rest: List[A], %x: A) -> List[A] { Cons(%x, %rest) };
  @foldl(%updater, Nil, %xs)
}
def @unzip[A, B](%xs: List[(A, B)]) -> (List[A], List[B]) {
  match (%xs) {
    Cons((%x, %y), %rest) => {
      let %pair = @unzip(%rest);
      (Cons(%x, %pair.0), Cons(%y, %pair.1))
    },
    Nil => (Nil, Nil),
  }
}
def @map_accumr[A, B, C](%f: fn(A, B) -> (A, C), %init: A, %xs: List[B]) -> (A, List[C]) {
  let %updater = fn(%x: B, %acc: (A, List[C])) -> (A, List[C]) {
    let %ys = %acc.1;
    let %pair = %f(%acc.0, %x);
    (%pair.0, Cons(%pair.1, %ys))
  };
  @foldr(%updater, (%init, Nil), %xs)
}
def @unfoldr[A, B](%f: fn(A) -> Option[(A, B)], %s: A) -> List[B] {
  match (%f(%s)) { Some((%s1, %x)) => Cons(%x, @unfoldr(%f, %s1)), None => Nil, }
}
def @sum(%xs: List[int32]) -> int32 {
  @foldl(fn (%a: int32, %b: int32) -> int32 { add(%a, %b) }, 0, %xs)
}
def @tmap[A, B](%f: fn(A) -> B, %t: Tree[A]) -> Tree[B] {
  match (%t) { Rose(%x, %children) => Rose(%f(%x), @map(fn(%c: Tree[A]) -> Tree[B] { @tmap(%f, %c) }, %children)), }
}
def @size[A](%t: Tree[A]) -> int32 {
  match (%t) { Rose(_, %children) => add(1, @sum(@map(fn(%c: Tree[A]) -> int32 { @size(%c) }, %children))), }
}
def @iterate[A](%f: fn(A) -> A, %n: int32) -> fn(A) -> A {
  if (equal(%n, 0)) { fn(%x: A) -> A { %x } } else { @compose(%f, @iterate(%f, subtract(%n, 1))) }
}
"""
