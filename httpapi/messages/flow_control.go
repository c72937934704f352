package messages

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/queue"
)

// flowControl is a flow-control key as clients read it; all members are always there except the explanation, which is a
// Trireme extension.
type flowControl struct {
	FlowControlKey      string `json:"flowControlKey"`
	WaitListSize        int    `json:"waitListSize"`
	ParallelismMax      int    `json:"parallelismMax"`
	ParallelismCount    int    `json:"parallelismCount"`
	RateMax             int    `json:"rateMax"`
	RateCount           int    `json:"rateCount"`
	RatePeriod          int64  `json:"ratePeriod"`      // in seconds
	RatePeriodStart     int64  `json:"ratePeriodStart"` // in unix seconds
	IsPaused            bool   `json:"isPaused"`
	IsPinnedParallelism bool   `json:"isPinnedParallelism"`
	IsPinnedRate        bool   `json:"isPinnedRate"`

	// Burst and Tokens are there if the rate is a token bucket, TenantCount if tenants share the key. They are Trireme extensions, as is
	// PausedBy, the message that has paused the key at the end of its retries.
	Burst       int  `json:"burst,omitempty"`
	Tokens      *int `json:"tokens,omitempty"`
	TenantCount int  `json:"tenantCount,omitempty"`
	tenantPage

	PausedBy string       `json:"pausedBy,omitempty"`
	Explain  *explanation `json:"explain,omitempty"`
}

func renderFlowControl(n *queue.FlowControlInfo) *flowControl {
	f := &flowControl{
		FlowControlKey: n.Key, WaitListSize: n.Waiting, ParallelismMax: n.Parallelism, ParallelismCount: n.Active,
		RateMax: n.Rate, RateCount: n.Count, RatePeriod: max(n.Period/1000, 1), RatePeriodStart: n.WindowStart / 1000,
		IsPaused: n.Paused, IsPinnedParallelism: n.PinnedParallelism, IsPinnedRate: n.PinnedRate, TenantCount: n.Tenants,
	}
	if n.Burst > 0 {
		f.Burst, f.Tokens = n.Burst, &n.Left
	}
	return f
}

// flowControlActs maps the last segment of a path to the act on a key.
var flowControlActs = map[string]queue.Act{
	"pause": queue.ActPause, "resume": queue.ActResume, "pin": queue.ActPin, "unpin": queue.ActUnpin, "resetrate": queue.ActResetRate, "reset": queue.ActReset,
}

// postFlowControl performs the act that the last segment of the path names on a key. A key may hold slashes.
func (re *request) postFlowControl() error {
	rest := strings.TrimSuffix(re.Rest(), "/")
	i := strings.LastIndexByte(rest, '/')
	act, known := flowControlActs[strings.ToLower(rest[i+1:])]
	switch {
	case !known:
		return errNoPath
	case i <= 0:
		return Invalid("a flow-control key is wanted")
	}
	return re.changeFlowControl(unescapePath(rest[:i]), act)
}

func (re *request) listFlowControl() error {
	values, err := re.named("search", countParameter, cursorParameter)
	if err != nil {
		return err
	}
	return answerAll(re, values, func(v *fsm.View, p queue.NamePage) queue.NameList[queue.FlowControlInfo] {
		return v.Messages().FlowControlKeys(values.Get("search"), v.Now(), p)
	}, func(v *fsm.View, info *queue.FlowControlInfo) *flowControl {
		n := renderFlowControl(info)
		n.PausedBy = idOf(v.Messages().FlowStoppedBy(info.Key))
		return n
	})
}

// named returns the parameters of the query string; only the given names are allowed.
func (re *request) named(names ...string) (url.Values, error) {
	values, err := queryValues(re.Query)
	if err != nil {
		return nil, err
	}
	left := len(values)
	for _, name := range names {
		if values.Has(name) {
			left--
		}
	}
	if left > 0 {
		return nil, Invalid("unknown parameters: only %s can be given here", strings.Join(names, ", "))
	}
	return values, nil
}

func (re *request) getFlowControl() error {
	key := unescapePath(strings.TrimSuffix(re.Rest(), "/"))
	explain, err := re.explainer("")
	if err != nil {
		return err
	}
	tenants, err := re.tenants()
	if err != nil {
		return err
	}
	return answerOne(re, NotFound("flowControl", key), func(v *fsm.View) *flowControl {
		info, ok := v.Messages().FlowControlKey(key, v.Now())
		if !ok {
			return nil
		}
		n := renderFlowControl(&info)
		n.tenantPage = tenants(func(p queue.NamePage) queue.NameList[queue.TenantInfo] { return v.Messages().FlowTenants(key, p) })
		n.PausedBy = idOf(v.Messages().FlowStoppedBy(info.Key))
		n.Explain = explain(v, func() (queue.Explanation, bool) { return v.Messages().ExplainFlow(key, v.Now()) })
		return n
	})
}

// changeFlowControl performs an act on a key, and answers with the key as it is then.
func (re *request) changeFlowControl(key string, act queue.Act) error {
	n := queue.FlowControlChange{Key: key, Act: act}
	var err error
	switch act {
	case queue.ActPin:
		err = re.readPin(&n)
	case queue.ActUnpin:
		err = re.readUnpin(&n)
	default:
		_, err = re.named()
	}
	if err != nil {
		return err
	}
	if n.Burst > 0 {
		if err := re.atLevel(re.r.Context(), env.Files); err != nil {
			return err
		}
	}
	out, err := fsm.Do(re.r.Context(), re.Engine, fsm.ChangeFlowControl, n)
	if err != nil {
		return err
	}
	re.answer(http.StatusOK, renderFlowControl(&out))
	return nil
}

// readPin reads what is to be pinned.
func (re *request) readPin(n *queue.FlowControlChange) error {
	values, err := re.named("parallelism", "rate", "period", "burst")
	if err != nil {
		return err
	}
	for name, to := range map[string]*int{"parallelism": &n.Parallelism, "rate": &n.Rate, "burst": &n.Burst} {
		if text := values.Get(name); text != "" {
			if *to, err = strconv.Atoi(text); err != nil || *to < 1 {
				return Invalid("invalid %s %q: 1 or more is wanted", name, text)
			}
		}
	}
	if text := values.Get("period"); text != "" {
		ms, ok := queue.ParseDuration(text)
		if !ok || ms == 0 || ms > queue.MaxPeriod {
			return Invalid("invalid period %q: seconds are wanted, at most 7 days", text)
		}
		n.Period = ms
	}
	switch {
	case n.Parallelism == 0 && n.Rate == 0:
		return Invalid("parallelism or rate is wanted")
	case n.Period > 0 && n.Rate == 0:
		return Invalid("invalid period: it needs a rate")
	case n.Burst > 0 && n.Rate == 0 || n.Burst > queue.MaxBurst:
		return Invalid("invalid burst: it needs a rate, and is at most %d", queue.MaxBurst)
	}
	return nil
}

// readUnpin reads which parts are to be unpinned.
func (re *request) readUnpin(n *queue.FlowControlChange) error {
	values, err := re.named("parallelism", "rate")
	if err != nil {
		return err
	}
	for name, to := range map[string]*int{"parallelism": &n.Parallelism, "rate": &n.Rate} {
		text := values.Get(name)
		yes, err := strconv.ParseBool(text)
		if text != "" && err != nil {
			return Invalid("invalid %s %q: true or false is wanted", name, text)
		}
		if yes {
			*to = 1
		}
	}
	if n.Parallelism+n.Rate == 0 {
		return Invalid("parallelism=true or rate=true is wanted")
	}
	return nil
}

// parallelism answers with the number of deliveries under way, and with its limit.
func (re *request) parallelism() error {
	var limit, active int
	_, err := re.Engine.Read(re.r.Context(), fsm.Reading{}, func(v *fsm.View) { limit, active = v.Messages().Parallel() })
	if err != nil {
		return err
	}
	re.answer(http.StatusOK, map[string]int{"parallelismMax": limit, "parallelismCount": active})
	return nil
}

// setParallelism changes the limit of deliveries. It is a Trireme extension.
func (re *request) setParallelism() error {
	var asked struct {
		ParallelismMax *int `json:"parallelismMax"`
	}
	err := re.decode(&asked, func() bool { return asked.ParallelismMax != nil && *asked.ParallelismMax >= 0 },
		"invalid body: expected an object with a parallelismMax of 0 or more (0 = unlimited)")
	if err != nil {
		return err
	}
	if _, err = fsm.Do(re.r.Context(), re.Engine, fsm.SetParallelism, queue.Parallelism{Max: *asked.ParallelismMax}); err != nil {
		return err
	}
	return re.parallelism()
}
