package workflow

import "github.com/trireme-dev/trireme/fsm/queue"

// DeploymentInfo is a deployment, and which active runs are on it.
type DeploymentInfo struct {
	Deployment
	// Active is the number of active runs on it, Oldest the one of them that was started first, nil if there is none.
	Active int
	Oldest *Run
}

// Deployment is the deployment of a name; false if there is none.
func (s *Store) Deployment(name string) (DeploymentInfo, bool) {
	d, found := s.deployments.byName.Get(name)
	if !found {
		return DeploymentInfo{}, false
	}
	return s.deploymentInfo(d), true
}

func (s *Store) deploymentInfo(d *Deployment) DeploymentInfo {
	n := DeploymentInfo{Deployment: *d, Active: s.deployments.active(d.Name)}
	s.eachOn(d.Name, 0, func(r *Run) bool {
		n.Oldest = r
		return false
	})
	return n
}

// Deployments lists deployments by name.
func (s *Store) Deployments(p queue.NamePage) (list queue.NameList[DeploymentInfo]) {
	s.deployments.byName.Ascend(p.After, func(name string, d *Deployment) bool {
		if name == p.After && name != "" {
			return true
		}
		if list.More = len(list.Elements) == p.Limit; list.More {
			return false
		}
		list.Elements, list.Last = append(list.Elements, s.deploymentInfo(d)), name
		return true
	})
	return list
}

// RunsOn returns a page of the active runs on a deployment, the oldest first, and the cursor for the next one.
func (s *Store) RunsOn(deployment string, p Page) (list []*Run, cursor uint64, more bool) {
	s.eachOn(deployment, p.After, func(r *Run) bool {
		if more = len(list) == p.Limit; more {
			return false
		}
		list, cursor = append(list, r), r.No
		return true
	})
	return list, cursor, more
}

// Target is the URL that the endpoint of a run is called by: in its deployment, if it has one.
func (s *Store) Target(r *Run) string { return s.target(r) }
