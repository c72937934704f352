package workflow

import (
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
// of its endpoint.
func (s *Store) isOwn(r *Run, url string) bool {
	if url == r.URL {
		return true
	}
	at, rest := splitURL(url)
	home, path := splitURL(r.URL)
	if rest != path {
		return false
	}
	_, deployed := s.deployments.origins.Get(at)
	return deployed || at == home
}

// elsewhere returns the URL that an entry of the run is delivered to, empty if that is the run's endpoint.
func (s *Store) elsewhere(r *Run, url string) string {
	if url == "" || !r.isPinned() || !s.isOwn(r, url) {
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
	if s.elsewhere(r, to.URL) == "" {
		return s.target(r)
	}
	return to.URL
}

// deploymentOf returns the deployment that the start of a run is for: the one that it names, or that of the run which invokes it, if the
// application is the same. own says that the run is invoked on a deployment; its URL is the one that the application has for the invoking run
// then.
func (s *Store) deploymentOf(n *Submission, parent *Run) (deployment string, own bool) {
	if parent == nil || parent.Deployment == "" {
		return n.Deployment, false
	}
	at, _ := splitURL(n.URL)
	home, _ := splitURL(parent.URL)
	d, found := s.deployments.byName.Get(parent.Deployment)
	switch {
	case !found || at != home && at != d.URL:
		return n.Deployment, false
	case n.Deployment != "":
		return n.Deployment, at != home
	}
	return d.Name, at != home
}

// resolveDeployment settles where a run that is to be started is deployed, and says why that can't be.
func (s *Store) resolveDeployment(n *Submission, parent *Run) *queue.Error {
	var own bool
	if n.Deployment, own = s.deploymentOf(n, parent); n.Deployment == "" {
		return nil
	}
	d, found := s.deployments.byName.Get(n.Deployment)
	if !found {
		return noDeployment(n.Deployment)
	}
	if n.Deployment = d.Name; own {
		home, _ := splitURL(parent.URL)
		_, rest := splitURL(n.URL)
		n.URL = home + rest
	}
	return nil
}

// maxFollowing is the most deliveries under way of a run that a rule moves: it is moved along with something else. One that has more is moved
// when it has fewer.
const maxFollowing = 100

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
		if n.Kind == CallEntry || s.elsewhere(r, n.URL) != "" {
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

// pin has the run, of which nothing is on its way, be on a deployment, or with an empty name on none. The caller counts its size.
func (wo *work) pin(deployment string) {
	wo.s.leaveDeployment(wo.r)
	wo.r.Deployment = deployment
	wo.s.enterDeployment(wo.r)
}

// deploymentFor is the deployment that a start would have, for its price.
func (s *Store) deploymentFor(n *Submission) string {
	if n.Invoker == nil {
		return n.Deployment
	}
	name, _ := s.deploymentOf(n, s.Find(n.Invoker.RunID, n.Invoker.Created))
	return name
}

// checkDeployments says why runs can't be started again: the deployment of one is not there. The name becomes the store's own.
func (s *Store) checkDeployments(list []*Run, n *Revival) error {
	if n.Deployment != "" {
		d, found := s.deployments.byName.Get(n.Deployment)
		if !found {
			return noDeployment(n.Deployment)
		}
		n.Deployment = d.Name
		return nil
	}
	for _, r := range list {
		if r.Deployment == "" {
			continue
		}
		if _, found := s.deployments.byName.Get(r.Deployment); !found {
			return notFound("deployment %s of workflow run %s not found: name another one, or make it again", r.Deployment, r.ID)
		}
	}
	return nil
}
