package cluster

import "time"

// lastWords is how long a process that must end may take to say why, if its log is on a disk that answers nothing.
const lastWords = time.Second

// fatal ends the process by Options.Fatal, once. The cluster port is closed first: a process of which a thread waits for a disk
// that answers nothing doesn't end before that does, and keeps its connections, so the other nodes would take it for alive.
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
