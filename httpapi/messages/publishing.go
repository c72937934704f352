package messages

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
	"github.com/trireme-dev/trireme/fsm/queue"
)

// Publishing is a request to publish one message to one destination: read, judged, and not yet proposed.
type Publishing struct {
	*request
	access  Access
	message queue.Publication
	receipt queue.Receipt
	err     error

	// scheduled: the path asks for a schedule, whatever the fields are.
	scheduled bool
	// Read in addition to the message: the fields of the request, or run for a message of a workflow run.
	fields fields
	run    *RunItem
}

// asksForSchedule reports whether the message is to be published at times.
func (p *Publishing) asksForSchedule() bool {
	_, cron := p.fields["cron"]
	return cron || p.scheduled
}

// errNeedsState says that a request can't be read without a state.
var errNeedsState = errors.New("messages: the request needs a look at the state")

// read reads the message that a request publishes. Without a state it does not read the defaults of a URL group, and refuses what asks
// for the rights of a user.
func (p *Publishing) read(queueName, destination string, state bool) error {
	q := p.request
	body, err := q.body(q.MaxBody)
	if err != nil {
		return err
	}
	c := q.call(queueName, destination, body)
	if !state {
		if c.defaults = nil; asksToCommit(q.Parser.fieldsOf(c)) {
			return errNeedsState
		}
	}
	if item, ok, err := q.runItem(c); ok && !p.scheduled {
		run := item // only such a message pays for it
		p.run = &run
		return err
	}
	if p.message, p.fields, err = q.Parser.publication(c); err != nil {
		return err
	}
	if !state && !q.knows(&p.message.Options) {
		return errNeedsState
	}
	return q.commits(p.fields, &p.message.Options)
}

// PreparePublishing reads a request of a client with that access which publishes to a URL or an API. It returns nil for
// any other request, for one that is refused, and for one that needs something from the state: ServeHTTP answers those
// from the beginning, if the body can be read again.
func (a *API) PreparePublishing(w http.ResponseWriter, r *http.Request, t Target, access Access) *Publishing {
	if r.Method != http.MethodPost || access.Role != acl.Messages && access.Role != acl.Admin {
		return nil
	}
	queueName, destination, ok := publicationPath(t.Path)
	if !ok || HasQueryToken(t.Query) {
		return nil
	}
	both := &struct {
		Publishing
		request
	}{request: request{API: a.In(access), w: w, r: r, Target: t, route: publishing}}
	n := &both.Publishing
	n.request, n.access = &both.request, access
	if n.read(queueName, destination, false) != nil || n.run != nil || n.message.Group != "" || n.asksForSchedule() {
		return nil // of a group the options are read first, and its endpoints are as many messages
	}
	return n
}

// publishing is the row that logs name for a publication that ran with others.
var publishing = &Route{Path: publishPath}

// publicationPath parses the path of a publication. ok is false for any other path, and for one that names no queue.
func publicationPath(path string) (queueName, destination string, ok bool) {
	if rest, ok := strings.CutPrefix(path, "v2/publish/"); ok {
		return "", rest, true
	}
	rest, ok := strings.CutPrefix(path, "v2/enqueue/")
	name, destination, _ := strings.Cut(rest, "/")
	queueName = unescapePath(name)
	return queueName, destination, ok && queue.ValidName(queueName)
}

// Joins reports whether both may be one request to the log: they are about one database.
func (p *Publishing) Joins(other *Publishing) bool {
	return p.access.DB == other.access.DB && p.access.Number == other.access.Number
}

// PublishTogether publishes messages of requests that join each other as one request to the log.
func PublishTogether(ctx context.Context, list []*Publishing) {
	items := make([]queue.Publication, len(list))
	for i, n := range list {
		items[i] = n.message
	}
	receipts, err := propose(ctx, list[0].Engine, items)
	for i, n := range list {
		if n.err = err; err == nil {
			n.receipt = receipts[i]
		}
	}
}

// propose publishes messages as one request to the log, and returns a receipt for each.
func propose(ctx context.Context, engine Engine, items []queue.Publication) ([]queue.Receipt, error) {
	out, err := fsm.Do(ctx, engine, fsm.Publish, queue.Publications{Items: items})
	if err == nil && len(out.Items) != len(items) {
		err = errMiscounted
	}
	return out.Items, err
}

// errMiscounted says that the receipts of requests can't be told apart.
var errMiscounted = errors.New("messages: the number of receipts differs from the number of publications")

// Failed makes Reply answer with an error of the engine.
func (p *Publishing) Failed(err error) { p.err = err }

// Reply answers the request to w.
func (p *Publishing) Reply(w http.ResponseWriter) {
	q := p.request
	q.w = w
	err := p.err
	if err == nil {
		err = q.answerPublished(&p.receipt)
	}
	if err != nil {
		q.fail(err)
	}
}
