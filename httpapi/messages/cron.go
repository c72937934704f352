package messages

import (
	"net/http"
	"net/url"
	"time"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/httpapi/view"
	"github.com/trireme-dev/trireme/scheduler/cron"
)

// times are those of a cron expression, in unix milliseconds.
type times struct {
	Expression string  `json:"expression"`
	TimeZone   string  `json:"timeZone"`
	Times      []int64 `json:"times"`
}

// cronTimes answers /v2/cron: the next times of an expression that no schedule has yet. The time is that of the cluster.
func (re *request) cronTimes() error {
	query, _ := url.ParseQuery(re.Query) // what can't be read is not there
	text := view.First(query["expression"])
	x, err := cron.Parse(text)
	if err != nil {
		return Invalid("%s", err)
	}
	_, err = re.Engine.Read(re.r.Context(), fsm.Reading{}, func(v *fsm.View) {
		now := time.UnixMilli(v.Now())
		n := times{Expression: text, TimeZone: x.Zone().String(), Times: []int64{}}
		for _, at := range x.Preview(now, now, previewed) {
			n.Times = append(n.Times, at.UnixMilli())
		}
		re.answer(http.StatusOK, n)
	})
	return err
}
