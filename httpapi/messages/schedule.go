package messages

import (
	"net/http"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/httpapi/view"
	"github.com/trireme-dev/trireme/scheduler/cron"
)

// previewed is the number of a schedule's next times that its record shows.
const previewed = 5

// schedule is a schedule as clients read it.
type schedule struct {
	ScheduleID  string `json:"scheduleId"`
	Cron        string `json:"cron"`
	Destination string `json:"destination"`
	view.Options
	view.CallbackHeaders
	CreatedAt          int64             `json:"createdAt"`
	Retries            int               `json:"retries"`
	IsPaused           bool              `json:"isPaused"`
	Body               string            `json:"body,omitempty"`
	BodyBase64         string            `json:"bodyBase64,omitempty"`
	Delay              int64             `json:"delay,omitempty"`
	Timeout            int64             `json:"timeout,omitempty"`
	LastScheduleTime   int64             `json:"lastScheduleTime,omitempty"`
	NextScheduleTime   int64             `json:"nextScheduleTime,omitempty"`
	LastScheduleStates map[string]string `json:"lastScheduleStates,omitempty"`
	Error              string            `json:"error,omitempty"`
	// Trireme extensions: the next fire times, the policy for late ticks, and the zone of the times.
	NextScheduleTimes []int64 `json:"nextScheduleTimes,omitempty"`
	Misfire           string  `json:"misfire,omitempty"`
	TimeZone          string  `json:"timeZone,omitempty"`
}

// renderSchedule returns a schedule as it is at the time of v, with what is redacted hidden; full shows its next times.
func renderSchedule(v *fsm.View, c *queue.Schedule, full bool) *schedule {
	p := &c.Publish
	n := &schedule{
		ScheduleID: c.ID, Cron: c.Cron, Destination: p.URL, CreatedAt: c.Created, Retries: p.Retries, IsPaused: c.Paused,
		Delay: p.Delay / 1000, Timeout: p.Timeout / 1000,
		LastScheduleTime: c.Fired, NextScheduleTime: c.Next, LastScheduleStates: lastStates(c), Error: c.Error,
	}
	n.Options, n.CallbackHeaders = view.NewOptions(&p.Options, p.CallerIP)
	n.Body, n.BodyBase64 = view.Redactor{Hide: p.Redact, Trim: -1}.Body(p.Body)
	if p.URL == "" {
		n.Destination = p.Group
	}
	if p.Given&queue.GivenRetries == 0 {
		n.Retries = v.Messages().Settings().DefaultRetries
	}
	x, err := cron.Parse(c.Cron)
	if err != nil {
		return n
	}
	next := x.Preview(time.UnixMilli(max(v.Now(), c.Last)), time.UnixMilli(c.Created), previewed)
	if n.NextScheduleTime == 0 && len(next) > 0 {
		n.NextScheduleTime = next[0].UnixMilli() // the leader is about to write it
	}
	if full {
		n.Misfire, n.TimeZone = c.Misfire.String(), x.Zone().String()
		for _, at := range next {
			n.NextScheduleTimes = append(n.NextScheduleTimes, at.UnixMilli())
		}
	}
	return n
}

// lastStates returns the messages of the last tick and their states.
func lastStates(c *queue.Schedule) map[string]string {
	if len(c.Messages) == 0 {
		return nil
	}
	m := make(map[string]string, len(c.Messages))
	for _, p := range c.Messages {
		state := "IN_PROGRESS"
		switch {
		case p.State == queue.Delivered:
			state = "SUCCESS"
		case p.State.Final():
			state = "FAIL"
		}
		m[p.ID.String()] = state
	}
	return m
}

// scheduleTarget returns the schedule of the path and the act on it. A path that creates a schedule has a destination instead of an
// id, so only an id without slashes has an act; deep reports whether anything follows the first segment.
func (re *request) scheduleTarget() (id, act string, deep bool) {
	id, act, deep = strings.Cut(strings.TrimSuffix(re.Rest(), "/"), "/")
	if id = unescapePath(id); queue.ValidName(id) {
		return id, strings.ToLower(act), deep
	}
	return id, "", deep
}

// postSchedule makes a schedule, or performs an act on one.
func (re *request) postSchedule() error {
	if id, act, _ := re.scheduleTarget(); act == "run" {
		return re.runSchedule(id)
	}
	if changed, err := re.pauseOrResume(); changed {
		return err
	}
	return re.publish("", re.Rest(), true)
}

func (re *request) patchSchedule() error {
	if changed, err := re.pauseOrResume(); changed {
		return err
	}
	return ErrMethod
}

// pauseOrResume returns false for a path that asks for neither.
func (re *request) pauseOrResume() (changed bool, err error) {
	switch id, act, _ := re.scheduleTarget(); act {
	case "pause":
		return true, re.changeSchedule(id, queue.ActPause)
	case "resume":
		return true, re.changeSchedule(id, queue.ActResume)
	}
	return false, nil
}

func (re *request) deleteSchedule() error {
	id, _, deep := re.scheduleTarget()
	if deep {
		return errNoPath
	}
	return re.changeSchedule(id, queue.ActDelete)
}

// putSchedule makes or overwrites the schedule that a call asks for.
func (re *request) putSchedule(f fields, p *queue.Publication) error {
	n := queue.SchedulePut{ID: f.get("schedule-id"), Publish: *p}
	x, err := cron.Parse(f.get("cron"))
	if err != nil {
		return Invalid("%s", err)
	}
	n.Cron, n.Every = x.String(), x.Every().Milliseconds()
	if text := f.get("misfire"); text != "" {
		var ok bool
		if n.Misfire, ok = queue.ParseMisfire(strings.ToLower(text)); !ok {
			return Invalid("invalid misfire %q: once, all or none is wanted", text)
		}
	}
	out, err := fsm.Do(re.r.Context(), re.Engine, fsm.PutSchedule, n)
	if err != nil {
		return err
	}
	re.answer(http.StatusOK, map[string]string{"scheduleId": out.ID})
	return nil
}

func (re *request) changeSchedule(id string, act queue.Act) error {
	return perform(re, fsm.ChangeSchedule, queue.ScheduleChange{ID: id, Act: act})
}

// runSchedule publishes the message of a schedule now, in addition to its ticks.
func (re *request) runSchedule(id string) error {
	out, err := fsm.Do(re.r.Context(), re.Engine, fsm.RunSchedule, queue.ScheduleRef{ID: id})
	if err != nil {
		return err
	}
	re.answer(http.StatusOK, receipt(&out))
	return nil
}

func (re *request) listSchedules() error {
	values, err := queryValues(re.Query)
	if err != nil {
		return err
	}
	return answerAll(re, values, func(v *fsm.View, p queue.NamePage) queue.NameList[queue.Schedule] { return v.Messages().Schedules(p) },
		func(v *fsm.View, c *queue.Schedule) *schedule { return renderSchedule(v, c, false) })
}

func (re *request) getSchedule() error {
	id, _, deep := re.scheduleTarget()
	if deep {
		return errNoPath
	}
	return answerOne(re, NotFound("schedule", id), func(v *fsm.View) *schedule {
		if c, ok := v.Messages().Schedule(id); ok {
			return renderSchedule(v, &c, true)
		}
		return nil
	})
}
