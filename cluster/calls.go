package cluster

import "github.com/trireme-dev/trireme/cluster/transport"

// The calls between nodes. Their numbers are part of the protocol.
const (
	callPropose     = transport.Failed + 1 + iota // a batch of requests, for the leader
	callReadIndex                                 // where a read may be served, from the leader
	callConfirm                                   // the term of the asked node, for a leader's quorum check
	callFailover                                  // consent to a campaign
	callStatus                                    // who the asked node is, before and after bootstrap
	callAdopt                                     // take part in a new cluster
	callCommitIndex                               // a commit index, told by the leader; not answered
	callTransfer                                  // hand leadership to the named node, or to any
	callMonitor                                   // the commands that the asked node's clients execute
	callReached                                   // answered when the asked node's machine has applied an index
	callJoin                                      // add the asking node, of the leader
	callMoved                                     // the asking node has another address, for the leader
	callRemove                                    // remove a node, of the leader
	callReplace                                   // have one server take another's place, of the leader
	callRemoved                                   // the asked node is no longer a server, told by the leader
	callProbe                                     // open a connection to the asking node
	callUsed                                      // keys that the telling node's clients have read, for the leader; not answered
	callPayloads                                  // payloads by their digests, of any node: those that the asked node has
	callAppend                                    // an append of the leader's raft; without one, whether the asked node takes such calls
	callHistory                                   // what the asked node has seen in its last hours, as it shows it
	callQuarantine                                // put a database into quarantine, of the leader
)

// leaderOnly reports whether only a leader answers calls of that kind.
func leaderOnly(kind transport.Kind) bool { return kind == callPropose || kind == callReadIndex }
