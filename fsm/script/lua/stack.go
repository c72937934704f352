package lua

// stack holds arguments and variables. It grows by whole chunks, so that slices of it
// stay valid.
type stack struct {
	chunks [][]Value
	chunk  int // in use
	top    int // of the chunk in use
}

// level is a place in the stack to go back to.
type level struct{ chunk, top int }

const firstChunk = 256

func (s *stack) level() level { return level{s.chunk, s.top} }

func (s *stack) release(l level) { s.chunk, s.top = l.chunk, l.top }

// take returns n slots of unknown content.
func (s *stack) take(b *Budget, n int) []Value {
	if s.chunk < len(s.chunks) && s.top+n <= len(s.chunks[s.chunk]) {
		s.top += n
		return s.chunks[s.chunk][s.top-n : s.top : s.top]
	}
	return s.takeNext(b, n)
}

// takeNext returns n slots of the next chunk.
func (s *stack) takeNext(b *Budget, n int) []Value {
	if s.chunk < len(s.chunks) {
		s.chunk++
	}
	if s.chunk < len(s.chunks) && len(s.chunks[s.chunk]) < n {
		s.chunks = s.chunks[:s.chunk]
	}
	if s.chunk >= len(s.chunks) {
		size := max(n, firstChunk<<min(len(s.chunks), 8))
		b.Alloc(size * sizeValue) // what is behind n will be taken for nothing
		s.chunks = append(s.chunks, make([]Value, size))
	}
	s.top = n
	return s.chunks[s.chunk][:n:n]
}

// clear drops what the stack held. It has the first chunk then, and no other, whatever ran before: a script pays for the
// chunks that it adds, which must not depend on those that another one has left.
func (s *stack) clear() {
	s.chunk, s.top = 0, 0
	if len(s.chunks) == 0 || len(s.chunks[0]) != firstChunk {
		s.chunks = [][]Value{make([]Value, firstChunk)}
		return
	}
	clear(s.chunks[1:])
	s.chunks = s.chunks[:1]
	clear(s.chunks[0])
}
