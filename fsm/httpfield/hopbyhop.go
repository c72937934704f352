package httpfield

import "strings"

// IsHopByHop reports whether a header belongs to the connection over which a message came, so that nobody passes it on
// with the message: RFC 9110, section 7.6.1. connection are the values of the message's Connection header. What these
// name belongs to the connection too, but for Content-Type, without which nobody could read the content.
func IsHopByHop(name string, connection []string) bool {
	if hopByHop[strings.ToLower(name)] {
		return true
	}
	for _, value := range connection {
		for option := range strings.SplitSeq(value, ",") {
			if strings.EqualFold(strings.TrimSpace(option), name) && !strings.EqualFold(name, "Content-Type") {
				return true
			}
		}
	}
	return false
}

// hopByHop decides what the state machine stores too (fsm/queue): another name here needs a feature level there.
var hopByHop = map[string]bool{
	"connection": true, "keep-alive": true, "proxy-authenticate": true, "proxy-authorization": true, "proxy-connection": true,
	"te": true, "trailer": true, "transfer-encoding": true, "upgrade": true,
}

// EndToEnd returns a header without what belongs to the connection. It keys names in canonical form, as net/http does,
// and shares the values of h.
func EndToEnd(h map[string][]string) map[string][]string {
	out := make(map[string][]string, len(h))
	for name, values := range h { // unordered: each name by itself
		if !IsHopByHop(name, h["Connection"]) {
			out[name] = values
		}
	}
	return out
}
