package messages

import (
	"encoding/json"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/httpapi/jsonbody"
)

// queueView is a queue as clients read it; all members are always there except the explanation, which is a Trireme
// extension.
type queueView struct {
	Name        string `json:"name"`
	Parallelism int    `json:"parallelism"`
	CreatedAt   int64  `json:"createdAt"`
	UpdatedAt   int64  `json:"updatedAt"`
	Lag         int    `json:"lag"`
	Paused      bool   `json:"paused"`

	// TenantCount is there if tenants share the queue. It, the page of tenants and PausedBy, the message that has paused the queue at the
	// end of its retries, are Trireme extensions.
	TenantCount int `json:"tenantCount,omitempty"`
	tenantPage

	PausedBy string       `json:"pausedBy,omitempty"`
	Explain  *explanation `json:"explain,omitempty"`
}

func renderQueue(v *fsm.View, n *queue.QueueInfo) *queueView {
	return &queueView{
		Name: n.Name, Parallelism: n.Parallelism, CreatedAt: n.Created, UpdatedAt: n.Updated, Lag: n.Lag, Paused: n.Paused, TenantCount: n.Tenants,
		PausedBy: idOf(v.Messages().QueueStoppedBy(n.Name)),
	}
}

// idOf returns an id as text, empty for none.
func idOf(id queue.ID) string {
	if id.IsZero() {
		return ""
	}
	return id.String()
}

// putQueue makes a queue, or gives one that exists the settings of the request.
func (re *request) putQueue() error {
	body, err := re.json(re.MaxBody, jsonbody.Bounds{})
	if err != nil {
		return err
	}
	asked := struct {
		QueueName   string `json:"queueName"`
		Parallelism *int   `json:"parallelism"`
		Paused      bool   `json:"paused"`
	}{}
	if err := json.Unmarshal(body, &asked); err != nil {
		return Invalid("invalid queue: %s", jsonbody.Fault(err))
	}
	n := queue.QueueChange{Name: asked.QueueName, Act: queue.ActPut, Parallelism: 1, Paused: asked.Paused}
	if asked.Parallelism != nil {
		if n.Parallelism = *asked.Parallelism; n.Parallelism < 1 {
			return Invalid("invalid parallelism %d: 1 or more is wanted", n.Parallelism)
		}
	}
	return re.changeQueue(n)
}

func (re *request) changeQueue(n queue.QueueChange) error {
	return perform(re, fsm.ChangeQueue, n)
}

func (re *request) listQueues() error {
	values, err := queryValues(re.Query)
	if err != nil {
		return err
	}
	return answerAll(re, values, func(v *fsm.View, p queue.NamePage) queue.NameList[queue.QueueInfo] { return v.Messages().Queues(p) },
		renderQueue)
}

func (re *request) getQueue(name string) error {
	explain, err := re.explainer("")
	if err != nil {
		return err
	}
	tenants, err := re.tenants()
	if err != nil {
		return err
	}
	return answerOne(re, NotFound("queue", name), func(v *fsm.View) *queueView {
		info, ok := v.Messages().Queue(name)
		if !ok {
			return nil
		}
		n := renderQueue(v, &info)
		n.tenantPage = tenants(func(p queue.NamePage) queue.NameList[queue.TenantInfo] { return v.Messages().QueueTenants(name, p) })
		n.Explain = explain(v, func() (queue.Explanation, bool) { return v.Messages().ExplainQueue(name, v.Now()) })
		return n
	})
}
