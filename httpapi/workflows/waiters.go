package workflows

import (
	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/httpapi/view"
)

// waiters answers with the waiters for an event, in the order in which they began. It is exact: a listed waiter has not
// been woken, and the next notify wakes it.
func (re *request) waiters() ([]waiter, error) {
	event := re.Plain(1)
	list := []waiter{}
	err := re.view(func(v *fsm.View) {
		for _, w := range v.Workflows().Waiters(event) {
			n := re.renderWaiter(w)
			if r, ok := v.Workflows().Run(w.Run); ok && r.Redact != nil {
				n.Headers, n.TimeoutHeaders = view.Redactor{Hide: r.Redact}.Redact(n.Headers), view.Redactor{Hide: r.Redact}.Redact(n.TimeoutHeaders)
			}
			list = append(list, n)
		}
	})
	return list, err
}
