package cluster

import "time"

// lastWords bounds the time that a process which must end takes to log why: its log may be on a disk that doesn't answer.
const lastWords = time.Second

// fatal ends the process by Options.Fatal, once. The cluster port is closed first. A process with a thread that waits for a
// stuck disk does not end before that wait does, and keeps its connections until then, so that the other nodes would take it
// for alive.
func (n *Node) fatal(reason string) {
	if !n.failed.CompareAndSwap(false, true) {
		return
	}
	if port := n.port.Load(); port != nil {
		port.Close()
	}
	end := func() {
		if n.opts.Fatal != nil {
			n.opts.Fatal(reason)
		}
	}
	late := time.AfterFunc(lastWords, end)
	n.log.Error("this node must stop", "reason", reason)
	if late.Stop() {
		end()
	}
}
