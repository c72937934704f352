package messages

import (
	"fmt"
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm/queue"
)

// warningHeader tells a client which parts of its request were ignored.
const warningHeader = "Svc-Warning"

// otherFields are the service headers that are known in addition to queue.Directives: headers of the request itself, and
// headers that deliveries carry, which come back when an endpoint passes on what it was sent.
var otherFields = []string{
	"feature-set", "request-id", "error-step-name", "nonretryable-error",
	"signature", "message-id", "retried", "region", "caller-ip", "topic-name", "endpoint-name", "response-truncated",
}

// otherFamilies are the beginnings of known service headers whose rest is free.
var otherFamilies = []string{"forward-", "workflow-", "telemetry-", "trigger-"}

// knownField reports whether a service header means something, by its name in lower case without the prefix.
func knownField(name string) bool {
	for _, family := range []string{"failure-callback", "callback"} {
		if rest, ok := strings.CutPrefix(name, family); ok && (rest == "" || rest[0] == '-') {
			return rest == "" || knownField(rest[1:])
		}
	}
	return queue.DirectiveNamed(name) != nil || slices.Contains(otherFields, name) ||
		slices.ContainsFunc(otherFamilies, func(f string) bool { return strings.HasPrefix(name, f) })
}

// The most names in a warning, and the most bytes of each name.
const (
	maxWarned     = 8
	maxWarnedName = 64
)

// warn tells the client by a header of the answer which service headers were ignored because nothing knows them: most
// are misspelled. They are no errors, for newer clients send what this version does not know.
func (re *request) warn(f fields) {
	var list []string
	for name := range f {
		if !knownField(name) && !slices.Contains(re.unknown, name) {
			list = append(list, name)
		}
	}
	if len(list) == 0 {
		return
	}
	slices.Sort(list)
	re.unknown = append(re.unknown, list...)
	re.unknown = re.unknown[:min(len(re.unknown), maxWarned)]
	shown := make([]string, len(re.unknown))
	for i, name := range re.unknown {
		shown[i] = strings.Map(plainLetter, name[:min(len(name), maxWarnedName)])
	}
	re.w.Header()[warningHeader] = []string{fmt.Sprintf("ignored headers that are not known: %s", strings.Join(shown, ", "))}
}

// plainLetter keeps a name from breaking the header that shows it.
func plainLetter(r rune) rune {
	if r <= ' ' || r >= 0x7f {
		return '?'
	}
	return r
}
