package queue

import "trireme/fsm/wire"

// What an operation brings aliases the log's bytes, which must not stay in memory for the sake of one field. What is
// kept is detached from them by way of its codec.

func detached(header []Field, o Options) ([]Field, Options) {
	var w wire.Writer
	encodeHeader(&w, header)
	o.Encode(&w)
	r := wire.NewReader(w.B)
	out := decodeHeader(r)
	var options Options
	options.Decode(r)
	return out, options
}

func (p *Publication) detached() Publication {
	var w wire.Writer
	p.Encode(&w)
	var out Publication
	out.Decode(wire.NewReader(w.B))
	return out
}
