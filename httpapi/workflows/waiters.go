package workflows

import "trireme/fsm"

// waiters answers those that wait for an event, in the order in which they began. It is
// exact: who is listed has not been woken, and is told by the next notify.
func (q *request) waiters(event string) ([]waiter, error) {
	list := []waiter{}
	err := q.view(func(v *fsm.View) {
		for _, w := range v.Flows().Waiters(event) {
			n := q.renderWaiter(w)
			if r, ok := v.Flows().Run(w.Run); ok && r.Redact != nil {
				n.Headers, n.TimeoutHeaders = shown{hide: r.Redact}.hidden(n.Headers), shown{hide: r.Redact}.hidden(n.TimeoutHeaders)
			}
			list = append(list, n)
		}
	})
	return list, err
}
