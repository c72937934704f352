package messages

import (
	"encoding/json"
	"net/http"

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

	Explain *explanation `json:"explain,omitempty"`
}

func renderQueue(n *queue.QueueInfo) *queueView {
	return &queueView{n.Name, n.Parallelism, n.Created, n.Updated, n.Lag, n.Paused, nil}
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
		return invalid("invalid queue: %s", jsonbody.Fault(err))
	}
	n := queue.QueueChange{Name: asked.QueueName, Act: queue.ActPut, Parallelism: 1, Paused: asked.Paused}
	if asked.Parallelism != nil {
		if n.Parallelism = *asked.Parallelism; n.Parallelism < 1 {
			return invalid("invalid parallelism %d: 1 or more is wanted", n.Parallelism)
		}
	}
	return re.changeQueue(n)
}

func (re *request) changeQueue(n queue.QueueChange) error {
	if _, err := fsm.Do(re.r.Context(), re.Engine, fsm.ChangeQueue, n); err != nil {
		return err
	}
	re.w.WriteHeader(http.StatusOK)
	return nil
}

func (re *request) listQueues() error {
	all := []*queueView{}
	_, err := re.Engine.Read(re.r.Context(), fsm.Reading{Long: true}, func(v *fsm.View) {
		list := v.Messages().Queues()
		for i := range list {
			all = append(all, renderQueue(&list[i]))
		}
	})
	if err != nil {
		return err
	}
	re.answer(http.StatusOK, all)
	return nil
}

func (re *request) getQueue(name string) error {
	explain, err := re.wantsExplanation()
	if err != nil {
		return err
	}
	var n *queueView
	_, err = re.Engine.Read(re.r.Context(), fsm.Reading{}, func(v *fsm.View) {
		info, ok := v.Messages().Queue(name)
		if !ok {
			return
		}
		n = renderQueue(&info)
		if x, ok := v.Messages().ExplainQueue(name, v.Now()); ok && explain {
			n.Explain = re.renderExplanation(&x, "")
		}
	})
	switch {
	case err != nil:
		return err
	case n == nil:
		return &Error{http.StatusNotFound, "queue " + name + " not found"}
	}
	re.answer(http.StatusOK, n)
	return nil
}
