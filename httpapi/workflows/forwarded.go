package workflows

import (
	"strings"

	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/httpapi/messages"
)

// sender says whose headers a submission forwards, which decides which of them are intended.
type sender uint8

const (
	// ofCaller: the client that starts a run. Everything that it forwards is intended, also a handshake that it asks for by hand.
	ofCaller sender = iota
	// ofStep: an SDK that answers a delivery. It sends back what it was sent under a prefix that it does not know, as if
	// that were the user's.
	ofStep
	// ofCall: the code of a workflow, for a third party. An SDK forwards to that only what the code names.
	ofCall
)

// serverOwned are service headers that each delivery has of its own. Those of another delivery would deceive the
// endpoint.
var serverOwned = map[string]bool{
	"signature": true, "message-id": true, "retried": true, "region": true, "caller-ip": true, "topic-name": true, "schedule-id": true,
	"workflow-runid": true, "workflow-createdat": true, "workflow-url": true, "workflow-init": true, "workflow-calltype": true, "workflow-deployment": true,
}

// handshake asks the SDK of an endpoint to start the run once more. If an SDK sent it back, it would ask again.
const handshake = "workflow-unknown-sdk"

// connection are headers of the request in which an SDK received what it forwards. Those of the connection itself are
// dropped where every forwarded header is read.
var connection = map[string]bool{"accept-encoding": true}

// clean brings forwarded headers into the form in which endpoints get them: service headers have the prefix that SDKs
// read, whichever they were sent with, and what belongs to another request is dropped. A third party gets what the call
// names, unchanged.
func (a *API) clean(o *queue.Options, by sender) {
	if by != ofCall {
		o.Header = a.cleanHeader(o.Header, by == ofCaller)
	}
	if by == ofStep && a.Parser.KeepsTraces() { // every delivery of a run has a trace context of its own
		o.Header = messages.WithoutTrace(o.Header)
	}
	if o.Callback != nil {
		o.Callback.Options.Header = a.cleanHeader(o.Callback.Options.Header, false)
	}
	if o.Failure != nil {
		o.Failure.Options.Header = a.cleanHeader(o.Failure.Options.Header, false)
	}
}

func (a *API) cleanHeader(header []queue.Field, keepsHandshake bool) []queue.Field {
	out := header[:0:0]
	for _, f := range header {
		own, service := "", false
		for _, p := range a.Parser.Prefixes {
			if len(f.Name) > len(p) && strings.EqualFold(f.Name[:len(p)+1], p+"-") {
				f.Name = a.prefix() + f.Name[len(p):]
				own, service = strings.ToLower(f.Name[len(a.prefix())+1:]), true
				break
			}
		}
		if connection[strings.ToLower(f.Name)] || service && (serverOwned[own] || own == handshake && !keepsHandshake) {
			continue
		}
		out = append(out, f)
	}
	return out
}
