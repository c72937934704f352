package workflow

import "github.com/trireme-dev/trireme/fsm/queue"

// deploymentOf returns the deployment that the start of a run is for: the one that it names, or that of the run which invokes it, if the
// application is the same. own says that the run is invoked on a deployment; its URL is the one that the application has for the invoking run
// then.
func (s *Store) deploymentOf(n *Submission, parent *Run) (deployment string, own bool) {
	if parent == nil || parent.Deployment == "" {
		return n.Deployment, false
	}
	at, _ := splitURL(n.URL)
	home, _ := splitURL(parent.URL)
	_, deployed := s.deployments.origins.Get(at)
	switch {
	case !deployed && at != home:
		return n.Deployment, false
	case n.Deployment != "":
		return n.Deployment, at != home
	}
	return parent.Deployment, at != home
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
