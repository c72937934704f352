package workflow

import (
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
)

// isPinned reports whether the deployment of the run is known: it names one, or has been on one.
func (r *Run) isPinned() bool { return r.Deployment != "" || r.Moves > 0 }

// enterDeployment has an active run found by its deployment.
func (s *Store) enterDeployment(r *Run) {
	if r.Deployment != "" {
		s.deployments.runs.Set(name{r.Deployment, r.No}, struct{}{})
	}
}

// leaveDeployment ends that.
func (s *Store) leaveDeployment(r *Run) {
	if r.Deployment != "" {
		s.deployments.runs.Delete(name{r.Deployment, r.No})
	}
}

// target is the URL of the run's endpoint in its deployment.
func (s *Store) target(r *Run) string {
	if r.Deployment == "" {
		return r.URL
	}
	d, found := s.deployments.byName.Get(r.Deployment)
	if !found {
		return r.URL
	}
	_, rest := splitURL(r.URL)
	return d.URL + rest
}

// isOwn reports whether a URL is that of the run's endpoint, in whichever deployment: an SDK takes the URL by which it was called for that
// of its endpoint. So any host will do: a deployment that was deleted meanwhile may still be at work.
func isOwn(r *Run, url string) bool {
	if url == r.URL {
		return true
	}
	_, rest := splitURL(url)
	_, path := splitURL(r.URL)
	return rest == path
}

// elsewhere returns the URL that an entry of the run is delivered to, empty if that is the run's endpoint.
func elsewhere(r *Run, url string) string {
	if url == "" || !r.isPinned() || !isOwn(r, url) {
		return url
	}
	return ""
}

// urlOf returns the URL that an entry of a run is delivered to.
func (s *Store) urlOf(r *Run, n *Entry) string {
	if n.URL != "" {
		return n.URL
	}
	return s.target(r)
}

// failureURL returns the URL of a failure callback of the run: the failure function is that of the deployment.
func (s *Store) failureURL(r *Run, to *queue.Callback) string {
	if elsewhere(r, to.URL) == "" {
		return s.target(r)
	}
	return to.URL
}

// maxFollowing is the most deliveries under way of a run that a rule moves: it is moved along with something else, which is not always asked for by
// somebody who could pay, such as a timeout. One that has more is moved when it has fewer.
const maxFollowing = 16

// ruled is the deployment that the rules have a run on.
func (s *Store) ruled(r *Run) string {
	at := r.Deployment
	for range maxChained {
		d, found := s.deployments.byName.Get(at)
		if !found || d.When == MoveNever || d.When == MoveUnstarted && s.hasSteps(r) {
			break
		}
		at = d.MoveTo
	}
	return at
}

// hasSteps reports whether a step of a run is recorded: its result, or that it is planned, waits, or has called or invoked.
func (s *Store) hasSteps(r *Run) (has bool) {
	s.marks.AscendHead(r.No, func(m mark, _ uint64) bool {
		has = m.run == r.No
		return false
	})
	return has
}

// follow moves the run on as the rules of its deployment say.
func (wo *work) follow() {
	if wo.r.Deployment == "" || !wo.r.Active() {
		return
	}
	to := wo.s.ruled(wo.r)
	if open := wo.s.openOf(wo.r.No); to == wo.r.Deployment || open > maxFollowing || !wo.s.fits(wo.s.moveGrowth(wo.r, to)) {
		return
	}
	wo.move(to)
}

// followPrice returns the price of follow, nothing for no run.
func (s *Store) followPrice(r *Run) env.Price {
	if r == nil || r.Deployment == "" || s.openOf(r.No) > maxFollowing {
		return env.Price{}
	}
	to := s.ruled(r)
	if to == r.Deployment {
		return env.Price{}
	}
	return s.movePrice(r, to)
}

// move moves the run to a deployment, or with an empty name to none. What is under way goes on; what comes goes there.
func (wo *work) move(to string) {
	s, r := wo.s, wo.r
	before := r.size()
	s.leaveDeployment(r)
	r.Deployment, r.Moves = to, r.Moves+1
	s.enterDeployment(r)
	wo.count(r.size() - before)
	wo.redirect()
}

// redirect has the messages of the run go to where its endpoint is now.
func (wo *work) redirect() {
	s, r := wo.s, wo.r
	var open []place
	s.open.AscendHead(r.No, func(p place, _ struct{}) bool {
		if p.run == r.No {
			open = append(open, p)
		}
		return p.run == r.No
	})
	for _, at := range open {
		n := s.entry(at)
		if n.Kind == CallEntry || elsewhere(r, n.URL) != "" {
			continue
		}
		if n.URL != "" { // it was there before the run had a deployment
			here := *n
			here.URL = ""
			wo.set(at, n, &here)
		}
		wo.q.Redirect(wo.e, n.ID, s.target(r))
	}
	if c := r.Callback; c != nil && c.State == CallbackInProgress {
		wo.q.Redirect(wo.e, c.Message, s.failureURL(r, s.FailureCallback(r)))
	}
}

// moveGrowth returns the bytes that moving a run to a deployment adds at most.
func (s *Store) moveGrowth(r *Run, to string) int64 {
	there := *r
	there.Deployment = to
	message := max(0, int64(len(s.target(&there))-len(s.target(r)))) + 2
	return max(0, pinSize(to)-pinSize(r.Deployment)) + message*int64(s.openOf(r.No)+1)
}
