package lua

import "unsafe"

// Buffer builds a string and charges for it as it grows.
type Buffer struct {
	vm *State
	b  []byte
}

// NewBuffer is an empty buffer.
func (st *State) NewBuffer() *Buffer { return &Buffer{vm: st} }

// firstBuffer is the least capacity of a buffer in bytes.
const firstBuffer = 64

// room makes room for n more bytes. The capacity doubles, so that all copies together
// cost as much as the result, and every new one is charged.
func (b *Buffer) room(n int) {
	if have := cap(b.b); len(b.b)+n > have {
		size := max(firstBuffer, 2*have, len(b.b)+n)
		b.vm.Alloc(size - have)
		grown := make([]byte, len(b.b), size)
		copy(grown, b.b)
		b.b = grown
	}
}

// Write appends a text.
func (b *Buffer) Write(s string) {
	b.room(len(s))
	b.b = append(b.b, s...)
	b.vm.Step(len(s) / bytesPerStep)
}

// Byte appends a byte.
func (b *Buffer) Byte(c byte) {
	b.room(1)
	b.b = append(b.b, c)
}

// String returns the text built as a value. The buffer must not be used again.
func (b *Buffer) String() Value {
	b.vm.Alloc(sizeString)
	return made(b.b)
}

// made is a string of bytes that nothing else uses.
func made(b []byte) Value { return Value{ref: &Str{s: unsafe.String(unsafe.SliceData(b), len(b))}} }
