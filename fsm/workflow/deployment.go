package workflow

import (
	"math"
	"strings"

	"github.com/trireme-dev/trireme/fsm/cow"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// A run may name its deployment: one release of its application, at a host of its own. Everything that goes to the run's endpoint goes to
// that host then, with the path and query of the run's URL, until the run is over or is moved; docs/design/workflows.md has the reasons.

// The limits of deployments.
const (
	// MaxDeployments is the most deployments of a database.
	MaxDeployments = 1_000
	// maxOrigin is the longest URL of a deployment in bytes: a host has 255 of them at most.
	maxOrigin = 300
	// maxChained is the most rules that move a run on at once.
	maxChained = 16
)

// MoveWhen says which runs of a deployment its rule moves.
type MoveWhen uint8

// The rules.
const (
	// MoveNever: there is no rule.
	MoveNever MoveWhen = iota
	// MoveUnstarted: runs of which no step is recorded.
	MoveUnstarted
	// MoveAlways: all runs.
	MoveAlways
	moveWhens
)

var moveWhenNames = [moveWhens]string{"", "unstarted", "always"}

// String is the rule's name on the wire.
func (w MoveWhen) String() string { return moveWhenNames[min(w, MoveAlways)] }

// ParseMoveWhen reads what String wrote of a rule.
func ParseMoveWhen(text string) (MoveWhen, bool) {
	for w, name := range moveWhenNames {
		if name == text && w > 0 {
			return MoveWhen(w), true
		}
	}
	return MoveNever, false
}

// Deployment is one release of an application. A stored one is never modified: a change replaces it.
type Deployment struct {
	Name string
	// URL is its origin: scheme, host and port.
	URL string
	// Created and Changed are in unix milliseconds.
	Created, Changed int64
	// MoveTo is the deployment that its runs move to by themselves, and When says which of them do.
	MoveTo string
	When   MoveWhen
}

// Fields codes the value in its wire format. Decoded texts alias the input.
func (d *Deployment) Fields(c *wire.Codec) {
	c.Text(&d.Name)
	c.Text(&d.URL)
	c.Varint(&d.Created)
	c.Varint(&d.Changed)
	c.Text(&d.MoveTo)
	wire.Enum(c, &d.When, moveWhens)
}

// deploymentCost is the logical overhead of a deployment in bytes, pinCost that of a run's place in the index.
const (
	deploymentCost = 400
	pinCost        = 100
)

func (d *Deployment) size() int64 {
	return deploymentCost + int64(2*len(d.Name)+2*len(d.URL)+len(d.MoveTo))
}

// pinSize is the logical memory of a run's naming a deployment, in bytes.
func pinSize(deployment string) int64 {
	if deployment == "" {
		return 0
	}
	return pinCost + int64(2*len(deployment))
}

// deployments holds the deployments of a database, and which active runs are on them.
type deployments struct {
	byName *cow.BTree[string, *Deployment]
	// origins counts the deployments of each origin, and runs are active runs by their deployments; both are derived.
	origins *cow.BTree[string, int]
	runs    *cow.BTree[name, struct{}]
	bytes   int64
}

func newDeployments() deployments {
	return deployments{byName: byText[*Deployment](), origins: byText[int](), runs: byName()}
}

func (de *deployments) fork() deployments {
	f := *de
	f.byName, f.origins, f.runs = de.byName.Snapshot(), de.origins.Snapshot(), de.runs.Snapshot()
	return f
}

func byText[V any]() *cow.BTree[string, V] {
	return cow.NewBTree[string, V](headOfName, strings.Compare)
}

// put stores a deployment in place of the one of its name.
func (de *deployments) put(d *Deployment) {
	de.remove(d.Name)
	de.byName.Set(d.Name, d)
	de.bytes += d.size()
	n, _ := de.origins.Get(d.URL)
	de.origins.Set(d.URL, n+1)
}

// remove removes the deployment of a name, if there is one.
func (de *deployments) remove(name string) {
	old, found := de.byName.Get(name)
	if !found {
		return
	}
	de.byName.Delete(name)
	de.bytes -= old.size()
	if n, _ := de.origins.Get(old.URL); n > 1 {
		de.origins.Set(old.URL, n-1)
	} else {
		de.origins.Delete(old.URL)
	}
}

// active is the number of active runs on a deployment.
func (de *deployments) active(deployment string) int {
	from, _ := de.runs.Rank(name{deployment, 0})
	to, _ := de.runs.Rank(name{deployment, math.MaxUint64})
	return to - from
}

// eachOn visits the active runs on a deployment whose numbers are greater than after, the oldest first.
func (s *Store) eachOn(deployment string, after uint64, visit func(*Run) bool) {
	s.deployments.runs.Ascend(name{deployment, after + 1}, func(n name, _ struct{}) bool {
		r, _ := s.runs.Get(n.no)
		return n.text == deployment && visit(r)
	})
}

// DeploymentChange is the argument of the operation ChangeDeployment: a deployment is made, gets another rule, or is deleted.
type DeploymentChange struct {
	Name   string
	Delete bool
	// URL is the origin; empty leaves that of a deployment which is there.
	URL string
	// MoveTo and When are its rule from now on, empty for none.
	MoveTo string
	When   MoveWhen
}

// Fields codes the value in its wire format. Decoded texts alias the input.
func (dc *DeploymentChange) Fields(c *wire.Codec) {
	c.Text(&dc.Name)
	c.Bool(&dc.Delete)
	c.Text(&dc.URL)
	c.Text(&dc.MoveTo)
	wire.Enum(c, &dc.When, moveWhens)
}

// ChangeDeployment makes, changes or deletes a deployment, and returns it as it is then, or was.
//
// The errors are ErrInvalid for a name, a URL or a rule that can't be, ErrNotFound for a deployment that is not there, ErrQuota for one too
// many, and ErrInUse for one that active runs or a rule need as it is.
func (s *Store) ChangeDeployment(e *env.Env, n DeploymentChange) (Deployment, error) {
	old, found := s.deployments.byName.Get(n.Name)
	if n.Delete {
		if !found {
			return Deployment{}, noDeployment(n.Name)
		}
		if err := s.refusesDeletion(old); err != nil {
			return Deployment{}, err
		}
		s.deployments.remove(n.Name)
		return *old, nil
	}
	d := &Deployment{Name: ownedText(n.Name), URL: ownedText(n.URL), Created: e.Now, Changed: e.Now, MoveTo: ownedText(n.MoveTo), When: n.When}
	if found {
		d.Name, d.Created = old.Name, old.Created
		if d.URL == "" {
			d.URL = old.URL
		}
	}
	if err := s.refusesDeployment(d, old); err != nil {
		return Deployment{}, err
	}
	d.URL, _ = ReadOrigin(d.URL)
	s.deployments.put(d)
	return *d, nil
}

// refusesDeployment says why a deployment can't be, nil if it can; old is the one of its name, nil if it is new.
func (s *Store) refusesDeployment(d, old *Deployment) error {
	origin, ok := ReadOrigin(d.URL)
	switch {
	case !queue.ValidName(d.Name):
		return invalid("invalid deployment %s: use letters, digits, hyphens, underscores and dots, at most 256 of them", d.Name)
	case !ok:
		return invalid("invalid url: use http:// or https:// with a host and no path, such as https://app-v42.example")
	case (d.When == MoveNever) != (d.MoveTo == ""):
		return invalid("invalid rule: moveTo and when (unstarted or always) go together")
	case old == nil && s.deployments.byName.Len() >= MaxDeployments:
		return refusal(queue.ErrQuota, "too many deployments. Limit: %d. Setting: none, it is fixed; delete those that no run is on", MaxDeployments)
	}
	if old != nil && old.URL != origin {
		if n := s.deployments.active(d.Name); n > 0 {
			return refusal(ErrInUse, "deployment %s keeps its url %s while active runs are on it (%d): move them first, or make another deployment", d.Name, old.URL, n)
		}
	}
	if d.When == MoveNever {
		return nil
	}
	at := d.MoveTo
	for left := s.deployments.byName.Len(); at != ""; left-- {
		if at == d.Name || left < 0 {
			return invalid("invalid moveTo: the rules would move runs of %s in a circle", d.Name)
		}
		next, found := s.deployments.byName.Get(at)
		if !found {
			return noDeployment(at)
		}
		at = next.MoveTo
	}
	return nil
}

// mostNamed is the most runs that a refusal names.
const mostNamed = 3

// refusesDeletion says why a deployment can't be deleted, nil if it can.
func (s *Store) refusesDeletion(d *Deployment) error {
	if n := s.deployments.active(d.Name); n > 0 {
		var first []string
		s.eachOn(d.Name, 0, func(r *Run) bool {
			first = append(first, r.ID)
			return len(first) < mostNamed
		})
		return refusal(ErrInUse, "active runs are on deployment %s: %d, the oldest of them %s; move them, or wait until they are over", d.Name, n, strings.Join(first, ", "))
	}
	var by *Deployment
	s.deployments.byName.All(func(_ string, one *Deployment) bool {
		if one.MoveTo == d.Name {
			by = one
		}
		return by == nil
	})
	if by != nil {
		return refusal(ErrInUse, "the rule of deployment %s moves its runs to %s: change that first", by.Name, d.Name)
	}
	return nil
}

func noDeployment(name string) *queue.Error { return notFound("deployment %s not found", name) }

// ChangeDeploymentPrice returns the price of ChangeDeployment.
func (s *Store) ChangeDeploymentPrice(_ *env.Env, n *DeploymentChange) env.Price {
	p := env.Price{Work: operation + entryWork + int64(s.deployments.byName.Len())} // a circle is looked for, and who has a rule
	if n.Delete {
		return p
	}
	d := Deployment{Name: n.Name, URL: n.URL, MoveTo: n.MoveTo}
	p.Growth = d.size()
	if old, found := s.deployments.byName.Get(n.Name); found {
		if d.URL == "" {
			d.URL = old.URL
		}
		p.Growth = max(0, d.size()-old.size())
	}
	return p
}

// loadDeployment takes in a record of Save.
func (s *Store) loadDeployment(in *wire.Reader) error {
	d := &Deployment{}
	in.Get(d)
	if err := in.Done(); err != nil {
		return err
	}
	if origin, ok := ReadOrigin(d.URL); !ok || origin != d.URL || !queue.ValidName(d.Name) {
		return errRecord
	}
	s.deployments.put(d)
	return nil
}
