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
	request
	access  Access
	message queue.Publication
	receipt queue.Receipt
	err     error
}

// PreparePublishing reads a request of a client with that access which publishes to a URL or an API. It is nil for any
// other, for one that is refused, and for one that needs something from the state: ServeHTTP answers those from the
// beginning, if the body can be read again.
func (a *API) PreparePublishing(w http.ResponseWriter, r *http.Request, t Target, access Access) *Publishing {
	if r.Method != http.MethodPost || access.Role != acl.Messages && access.Role != acl.Admin {
		return nil
	}
	n := &Publishing{request: request{API: a, w: w, r: r, Target: t, route: publishing}, access: access}
	q := &n.request
	queueName, destination, ok := publicationPath(t.Path)
	if !ok || HasQueryToken(t.Query) {
		return nil
	}
	body, err := q.body(q.MaxBody)
	if err != nil {
		return nil
	}
	c := q.call(queueName, destination, body)
	f := q.Parser.fieldsOf(c)
	if _, scheduled := f["cron"]; scheduled || q.runs != nil && concernsRun(f) {
		return nil
	}
	to, err := q.Parser.readDestination(c.destination, c.rest)
	if err != nil || to.group != "" { // its options are read first, and its endpoints are as many messages
		return nil
	}
	if n.message, err = q.Parser.publicationTo(c, f, to); err != nil {
		return nil
	}
	q.warn(f)
	return n
}

// publishing is the row that logs name for a publication that ran with others.
var publishing = &Route{Path: publishPath}

// publicationPath takes the path of a publication apart. It is false for one that is none, or that names no queue.
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
func (n *Publishing) Joins(other *Publishing) bool {
	return n.access.DB == other.access.DB && n.access.Number == other.access.Number
}

// PublishTogether publishes messages of requests that join each other as one request to the log.
func PublishTogether(ctx context.Context, list []*Publishing) {
	items := make([]queue.Publication, len(list))
	for i, n := range list {
		items[i] = n.message
	}
	a := list[0].In(list[0].access)
	out, err := fsm.Do(ctx, a.Engine, fsm.Publish, queue.Publications{Items: items})
	if err == nil && len(out.Items) != len(items) {
		err = errMiscounted
	}
	for i, n := range list {
		if n.err = err; err == nil {
			n.receipt = out.Items[i]
		}
	}
}

// errMiscounted says that the receipts of requests can't be told apart.
var errMiscounted = errors.New("messages: the number of receipts differs from the number of publications")

// Failed has the request answered by an error of the engine.
func (n *Publishing) Failed(err error) { n.err = err }

// Reply answers the request to w.
func (n *Publishing) Reply(w http.ResponseWriter) {
	q := &n.request
	q.w = w
	err := n.err
	if err == nil {
		err = q.answerPublished(&n.receipt)
	}
	if err != nil {
		q.fail(err)
	}
}
