package messages

import (
	_ "embed"
	"net/http"
	"strings"

	"github.com/trireme-dev/trireme/fsm/queue"
)

// Route is a row of the table of routes: the requests that one handler answers.
type Route struct {
	// Method is the HTTP method. An empty one takes any.
	Method string
	// Path is the pattern in the router's form, /v2/messages/:messageId, where *name takes the rest of a path. Its words match in
	// any case of letters, because clients write bulkActions and bulkactions.
	Path string
	// Described are the paths of the OpenAPI description that the row answers; nil if Path is the only one. Logs name the first.
	Described []string
	// Act is the act that the audit log records; empty if it records none.
	Act string

	as    string // the method by whose rules the request is judged, if not its own
	open  bool   // needs no token
	serve func(*request) error
}

// Pattern returns Path in lower case, except for the names of its parameters.
func (r *Route) Pattern() string {
	segments := strings.Split(r.Path, "/")
	for i, segment := range segments {
		if segment != "" && segment[0] != ':' && segment[0] != '*' {
			segments[i] = strings.ToLower(segment)
		}
	}
	return strings.Join(segments, "/")
}

// Descriptions returns the paths of the OpenAPI description that the row answers.
func (r *Route) Descriptions() []string {
	if r.Described != nil {
		return r.Described
	}
	segments := strings.Split(r.Path, "/")
	for i, segment := range segments {
		if segment != "" && (segment[0] == ':' || segment[0] == '*') {
			segments[i] = "{" + segment[1:] + "}"
		}
	}
	return []string{strings.Join(segments, "/")}
}

// Name returns the path by which logs name the row. They do not show the path of a request, which may contain
// destinations with credentials, webhooks and names of events.
func (r *Route) Name() string { return r.Descriptions()[0] }

// NoPath and NoMethod answer requests without a row, once their token is known.
var (
	NoPath   = &Route{Path: "/…", serve: func(*request) error { return errNoPath }}
	NoMethod = &Route{Path: "/…", serve: func(*request) error { return ErrMethod }}
)

// OtherMethod returns the route for a path for which the router only has rows of other methods. It answers once the token is known.
// A row of any method also takes methods for which the router has no name, such as PROPFIND. Dead letters of runs, and the
// description, are not found by a method that they do not take.
func (a *API) OtherMethod(routingPath string) *Route {
	rows := a.Routes()
	for i := range rows {
		row := &rows[i]
		if root, _, _ := strings.Cut(row.Pattern(), "*"); row.Method == "" && strings.HasPrefix(routingPath, root) {
			return row
		}
	}
	below, dead := strings.CutPrefix(routingPath, "/v2/workflows/dlq")
	act, id, _ := strings.Cut(strings.TrimPrefix(below, "/"), "/")
	if routingPath == "/v2/openapi.yaml" || dead && act != "resume" && act != "restart" && (act != "callback" || id == "") {
		return NoPath
	}
	return NoMethod
}

// NewRoute makes a row that answers for an API of the database of the request.
func NewRoute(method, path string, serve func(a *API, w http.ResponseWriter, r *http.Request, t *Target) error) Route {
	return Route{Method: method, Path: path, serve: func(q *request) error { return serve(q.API, q.w, q.r, &q.Target) }}
}

// Open makes the row answer without a token, for an API of the database default.
func (r Route) Open() Route {
	r.open = true
	return r
}

// Routes returns the rows of the table of routes below /v2 and /llm.
func (a *API) Routes() []Route {
	list := routes()
	if a.Parser.APIs[chatAPI] != "" && a.Ask != nil {
		list = append(list, Route{Method: http.MethodPost, Path: chatPath, serve: (*request).chat})
	}
	if a.runs != nil {
		list = append(list, a.runs.Routes()...)
	}
	return list
}

// publishPath is the path of a publication in the description.
const publishPath = "/v2/publish/{destination}"

func routes() []Route {
	publish := func(q *request) error { return q.publish("", q.Rest(), false) }
	schedule := []string{"/v2/schedules/{destination}", "/v2/schedules/{scheduleId}/pause", "/v2/schedules/{scheduleId}/resume", "/v2/schedules/{scheduleId}/run"}
	flow := []string{"/v2/flowControl/{key}/pause", "/v2/flowControl/{key}/resume", "/v2/flowControl/{key}/pin", "/v2/flowControl/{key}/unpin",
		"/v2/flowControl/{key}/resetRate", "/v2/flowControl/{key}/reset"}
	rotate := Route{Method: http.MethodPost, Path: "/v2/keys/rotate", Act: "rotate signing keys", serve: (*request).rotateKeys}
	rotateByGet := rotate
	rotateByGet.Method, rotateByGet.as = http.MethodGet, http.MethodPost
	return []Route{
		{Method: http.MethodGet, Path: "/v2/openapi.yaml", open: true, serve: (*request).describe},
		{Method: http.MethodPost, Path: "/v2/publish/*destination", serve: publish},
		{Method: http.MethodPost, Path: "/v2/publish", Described: []string{publishPath}, serve: publish},
		{Method: http.MethodPost, Path: "/v2/enqueue/*queue", Described: []string{"/v2/enqueue/{queue}/{destination}"}, serve: (*request).enqueue},
		{Method: http.MethodPost, Path: "/v2/enqueue", Described: []string{"/v2/enqueue/{queue}/{destination}"}, serve: (*request).enqueue},
		{Method: http.MethodPost, Path: "/v2/batch", serve: (*request).batch},
		{Method: http.MethodDelete, Path: "/v2/messages", serve: (*request).cancelMany},
		{Method: http.MethodGet, Path: "/v2/messages/:messageId", serve: func(q *request) error { return q.getMessage(q.Plain(1)) }},
		{Method: http.MethodDelete, Path: "/v2/messages/:messageId", serve: func(q *request) error { return q.cancelOne(q.Plain(1)) }},
		{Method: http.MethodPost, Path: "/v2/messages/:messageId/retry", serve: func(q *request) error { return q.runNow(q.Plain(1)) }},
		{Method: http.MethodGet, Path: "/v2/bulkActions", serve: (*request).bulkActions},
		{Method: http.MethodGet, Path: "/v2/bulkActions/preview", serve: (*request).bulkActions},
		{Method: http.MethodGet, Path: "/v2/bulkActions/:actionId", serve: (*request).bulkActions},
		{Method: http.MethodDelete, Path: "/v2/bulkActions/:actionId", serve: (*request).bulkActions},
		{Method: http.MethodGet, Path: "/v2/schedules", serve: (*request).listSchedules},
		{Method: http.MethodPost, Path: "/v2/schedules", Described: schedule[:1], serve: (*request).postSchedule},
		{Method: http.MethodPost, Path: "/v2/schedules/*destination", Described: schedule, serve: (*request).postSchedule},
		{Method: http.MethodPatch, Path: "/v2/schedules/*scheduleId", Described: schedule[1:3], serve: (*request).patchSchedule},
		{Method: http.MethodGet, Path: "/v2/schedules/*scheduleId", serve: (*request).getSchedule},
		{Method: http.MethodDelete, Path: "/v2/schedules/*scheduleId", serve: (*request).deleteSchedule},
		{Method: http.MethodGet, Path: "/v2/cron", serve: (*request).cronTimes},
		{Method: http.MethodGet, Path: "/v2/queues", serve: (*request).listQueues},
		{Method: http.MethodPost, Path: "/v2/queues", serve: (*request).putQueue},
		{Method: http.MethodGet, Path: "/v2/queues/:queue", serve: func(q *request) error { return q.getQueue(q.Plain(1)) }},
		{Method: http.MethodDelete, Path: "/v2/queues/:queue", serve: queueAct(queue.ActDelete)},
		{Method: http.MethodPost, Path: "/v2/queues/:queue/pause", serve: queueAct(queue.ActPause)},
		{Method: http.MethodPost, Path: "/v2/queues/:queue/resume", serve: queueAct(queue.ActResume)},
		{Method: http.MethodGet, Path: "/v2/topics", serve: (*request).listTopics},
		{Method: http.MethodGet, Path: "/v2/topics/:topic", serve: func(q *request) error { return q.getTopic(q.Plain(1)) }},
		{Method: http.MethodPatch, Path: "/v2/topics/:topic", serve: func(q *request) error { return q.setTopicHeaders(q.Plain(1)) }},
		{Method: http.MethodDelete, Path: "/v2/topics/:topic", serve: func(q *request) error {
			return q.changeTopic(queue.GroupChange{Name: q.Plain(1), Act: queue.ActDelete})
		}},
		{Method: http.MethodPost, Path: "/v2/topics/:topic/endpoints", serve: func(q *request) error { return q.changeEndpoints(q.Plain(1), queue.ActAddEndpoints) }},
		{Method: http.MethodDelete, Path: "/v2/topics/:topic/endpoints", serve: func(q *request) error { return q.changeEndpoints(q.Plain(1), queue.ActRemoveEndpoints) }},
		{Method: http.MethodGet, Path: "/v2/dlq", serve: (*request).listDead},
		{Method: http.MethodDelete, Path: "/v2/dlq", serve: (*request).deleteMany},
		{Method: http.MethodGet, Path: "/v2/dlq/retry", Described: []string{}, serve: NoMethod.serve}, // not a dead letter of that id
		{Method: http.MethodDelete, Path: "/v2/dlq/retry", Described: []string{}, serve: NoMethod.serve},
		{Method: http.MethodPost, Path: "/v2/dlq/retry", serve: (*request).retryMany},
		{Method: http.MethodGet, Path: "/v2/dlq/:dlqId", serve: func(q *request) error { return q.getDead(q.Plain(1)) }},
		{Method: http.MethodDelete, Path: "/v2/dlq/:dlqId", serve: func(q *request) error { return q.deleteOne(q.Plain(1)) }},
		{Method: http.MethodPost, Path: "/v2/dlq/retry/:dlqId", serve: func(q *request) error { return q.retryOne(q.Plain(2)) }},
		{Method: http.MethodGet, Path: "/v2/history", serve: (*request).history},
		{Method: http.MethodGet, Path: "/v2/events", serve: func(q *request) error { return q.events(false) }},
		{Method: http.MethodGet, Path: "/v2/logs", serve: func(q *request) error { return q.events(true) }},
		{Method: http.MethodGet, Path: "/v2/flowControl", serve: (*request).listFlowControl},
		{Method: http.MethodGet, Path: "/v2/flowControl/*key", serve: (*request).getFlowControl},
		{Method: http.MethodPost, Path: "/v2/flowControl", Described: []string{}, serve: NoPath.serve}, // it names no key, and nothing to do with it
		{Method: http.MethodPost, Path: "/v2/flowControl/*key", Described: flow, serve: (*request).postFlowControl},
		{Method: http.MethodGet, Path: "/v2/globalParallelism", serve: (*request).parallelism},
		{Method: http.MethodPost, Path: "/v2/globalParallelism", serve: (*request).setParallelism},
		{Method: http.MethodGet, Path: "/v2/keys", serve: (*request).readKeys},
		rotate,
		rotateByGet,
	}
}

func queueAct(act queue.Act) func(*request) error {
	return func(q *request) error { return q.changeQueue(queue.QueueChange{Name: q.Plain(1), Act: act}) }
}

// openAPI describes every path of /v2, in OpenAPI 3.1. It is written by hand, and the
// tests hold every reply that they get against it.
//
//go:embed openapi.yaml
var openAPI []byte

// describe serves the description to every client: it says nothing about this cluster.
func (re *request) describe() error {
	re.w.Header()["Content-Type"] = []string{"application/yaml"}
	_, _ = re.w.Write(openAPI) // an error means that the client has gone
	return nil
}
