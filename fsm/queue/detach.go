package queue

import "github.com/trireme-dev/trireme/fsm/wire"

// What an operation brings aliases the log's bytes, which must not stay in memory for the sake of one field. What is
// kept is detached from them by way of its codec.

func detached(header []Field, o Options) ([]Field, Options) {
	g := Group{Header: header, Options: o}
	var out Group
	wire.Copy(&out, &g)
	return out.Header, out.Options
}

func (p *Publication) detached() Publication {
	var out Publication
	wire.Copy(&out, p)
	return out
}
