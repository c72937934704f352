package wire

import "sync"

// codecs are used again: Fields, which is called through an interface, would otherwise have one allocated for each record.
var codecs = sync.Pool{New: func() any { return new(Codec) }}

func (c *Codec) release() {
	*c = Codec{}
	codecs.Put(c)
}
