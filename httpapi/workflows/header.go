package workflows

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"net/textproto"
	"slices"

	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/httpapi/jsonbody"
	"github.com/trireme-dev/trireme/httpapi/messages"
)

// optionsOf reads a map of publish-style headers, as bodies have them. Names may occur twice in different case; the
// last of them in the order of names counts.
func (a *API) optionsOf(m map[string][]string) (queue.Options, error) {
	h := http.Header{}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		h[textproto.CanonicalMIMEHeaderKey(name)] = m[name]
	}
	return a.runOptions(a.Parser.ReadHeaders(h))
}

// runOptions returns the options of a message of a run, which is delivered at once.
func (a *API) runOptions(h *messages.Headers) (queue.Options, error) {
	o, err := h.Options()
	if err != nil {
		return o, refused("%s", err)
	}
	o.Given &^= queue.GivenDelay | queue.GivenNotBefore
	o.Delay, o.NotBefore = 0, 0
	a.clean(&o, ofStep)
	return o, nil
}

// openObject returns a JSON object in compact form without its closing brace, for the state machine to add members to.
func openObject(text []byte) ([]byte, error) {
	var b bytes.Buffer
	if err := json.Compact(&b, text); err != nil {
		return nil, refused("invalid workflow step: %s", jsonbody.Fault(err))
	}
	out := b.Bytes()
	if len(out) < 3 || out[0] != '{' {
		return nil, refused("invalid workflow step: an object is wanted")
	}
	return out[:len(out)-1], nil
}
