package env

// Node is the node on which a request runs: what it wants to be told, and what it lends to reads. A machine gives it to the Env of
// each request; without one, nothing is told or lent. Nothing that a node says reaches the state.
type Node interface {
	// Tracking reports whether the node wants to be told of keys that change, Monitored whether it wants to be told what scripts
	// call.
	Tracking() bool
	Monitored() bool
	// Used is called when a read has used a key of Env.Database, unless it was used a moment before.
	Used(e *Env, key []byte)
	// Secret fills b from the node's source of secrets, or returns false: it has none.
	Secret(b []byte) bool
	// Yield lets other goroutines run.
	Yield()
	// Large is called when a read is about to allocate megabytes.
	Large()
}

// Tracks reports whether this node observes the keys that the request changes.
func (e *Env) Tracks() bool { return e.Node != nil && !e.ReadOnly && e.Node.Tracking() }

// Monitors reports whether this node observes the calls of scripts.
func (e *Env) Monitors() bool { return e.Node != nil && e.Node.Monitored() }

// TellUse tells the node that a read has used a key.
func (e *Env) TellUse(key []byte) {
	if e.Node != nil && e.ReadOnly {
		e.Node.Used(e, key)
	}
}

// Secret fills b with secret bytes, or returns false: the request writes, or the node has no source of secrets.
func (e *Env) Secret(b []byte) bool { return e.Node != nil && e.ReadOnly && e.Node.Secret(b) }

// Paced reports whether the request is a read for which no write waits. It calls Yield now and then.
func (e *Env) Paced() bool { return e.ReadOnly && !e.Bounded && e.Node != nil }

// Yield lets other goroutines run if the request is Paced.
func (e *Env) Yield() {
	if e.Paced() {
		e.Node.Yield()
	}
}
