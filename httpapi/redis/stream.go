package redis

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/trireme-dev/trireme/fsm/channel"
	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/node/pubsub"
)

// StreamNames are the first segments of the paths that answer with a stream of events.
const (
	Monitor    = "monitor"
	Subscribe  = "subscribe"
	PSubscribe = "psubscribe"
	Follow     = "follow" // of the entries of a stream
)

// IsStream reports whether the raw path names a stream.
func IsStream(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return first == Monitor || first == Subscribe || first == PSubscribe || first == Follow
}

// Heartbeat is a comment of an event stream, which clients drop.
const Heartbeat = ": keep-alive\n\n"

// MonitorOK is the first payload of a monitor: the quotes are part of it.
const MonitorOK = `"OK"`

// AppendData writes one server-sent event. A line break in the payload, in each form that readers of such streams
// accept, begins another data line: so a message stays in its own event, whatever it holds. Bytes that aren't UTF-8
// become U+FFFD.
func AppendData(dst []byte, payload string) []byte {
	for more := true; more; {
		end := strings.IndexAny(payload, "\r\n")
		line := payload
		if more = end >= 0; more {
			line = payload[:end]
			if payload[end] == '\r' && strings.HasPrefix(payload[end+1:], "\n") {
				end++
			}
			payload = payload[end+1:]
		}
		dst = append(dst, "data: "...)
		dst = appendText(dst, line)
		dst = append(dst, '\n')
	}
	return append(dst, '\n')
}

// AppendEvent writes an event for a subscriber. count is the number of subscriptions of the connection, for
// confirmations.
func AppendEvent(dst []byte, e *pubsub.Event, count int) []byte {
	var b strings.Builder
	pattern := e.Kind == channel.Pattern
	switch {
	case e.Confirmed && pattern:
		b.WriteString("psubscribe," + e.Name + "," + strconv.Itoa(count))
	case e.Confirmed:
		b.WriteString("subscribe," + e.Name + "," + strconv.Itoa(count))
	case pattern:
		b.WriteString("pmessage," + e.Name + "," + e.Channel + "," + e.Message)
	default:
		b.WriteString("message," + e.Channel + "," + e.Message)
	}
	return AppendData(dst, b.String())
}

// AppendEntry writes the server-sent event of an entry of a stream, whose id clients send back as Last-Event-ID.
func AppendEntry(dst []byte, id string, entry reply.Value) []byte {
	dst = append(append(append(dst, "id: "...), id...), "\ndata: "...) // which is one line: JSON escapes line breaks
	return append(appendValue(dst, entry, JSON), "\n\n"...)
}

// appendText writes s; each byte that isn't UTF-8 becomes U+FFFD.
func appendText(dst []byte, s string) []byte {
	if utf8.ValidString(s) {
		return append(dst, s...)
	}
	for _, r := range s {
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}
