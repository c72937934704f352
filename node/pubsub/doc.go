// Package pubsub delivers messages to the subscribers connected to this node (Hub), and the commands that nodes execute to those
// who monitor (Monitor). The HTTP and RESP servers of a node share one Hub.
//
// A subscription begins and ends at an index of the log. The Hub announces by a log entry how many subscribers of each channel
// and pattern this node has, and a subscriber gets the messages after that entry. Messages leave the applies in log order, so all
// subscribers on all nodes see one order, and each message once.
//
// Invariants:
//   - PUBLISH counts exactly the subscribers that get the message.
//   - One announcement is under way at a time, and its counts are absolute, so an
//     announcement whose outcome is unknown is replaced by the next one.
//   - Nothing is kept for later subscribers and nothing is skipped: a subscriber that can't be served without a gap (it lags too
//     far, this node installed a snapshot, the leader dropped this node's counts) is disconnected.
//   - Hub.WaitCounted returns when the log has the counts of every Remove before the call,
//     so that an UNSUBSCRIBE can be answered truthfully. Hub.AwaitUncounted does the same for
//     those of this node that have sent to leave, so that a PUBLISH doesn't count them.
//
// Notify is called by the apply of this node, in log order; all other methods may be called
// by any goroutine. docs/design/pubsub.md has the reasons and the alternative.
package pubsub
