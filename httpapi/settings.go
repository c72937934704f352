package httpapi

import (
	"fmt"
	"net/http"
	"reflect"

	"github.com/gin-gonic/gin"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// messageLimits are queue.Settings as /admin/settings/messages shows them: times in
// milliseconds, sizes in bytes, 0 = unlimited. Limits that a publisher can exceed have the
// names by which refusals name them.
type messageLimits struct {
	EventRetentionMs     int64 `json:"eventRetentionMs"`
	EventBytes           int64 `json:"eventBytes"`
	DLQRetentionMs       int64 `json:"dlqRetentionMs"`
	DLQBytes             int64 `json:"dlqBytes"`
	GraceMs              int64 `json:"graceMs"`
	DedupWindowMs        int64 `json:"dedupWindowMs"`
	DefaultRetries       int   `json:"defaultRetries"`
	MaxTimeoutMs         int64 `json:"maxTimeoutMs"`
	MaxDelayMs           int64 `json:"maxDelayMs"`
	MaxMessageSize       int64 `json:"maxMessageSize"`
	MaxRetries           int   `json:"maxRetries"`
	MaxParallelism       int   `json:"maxParallelism"`
	MaxQueues            int   `json:"maxQueues"`
	MaxSchedules         int   `json:"maxSchedules"`
	MaxTopics            int   `json:"maxTopics"`
	MaxEndpointsPerTopic int   `json:"maxEndpointsPerTopic"`
	GlobalParallelism    int   `json:"globalParallelism"`
}

func messageLimitsOf(s queue.Settings) messageLimits {
	return messageLimits{
		s.EventAge, s.EventBytes, s.DeadAge, s.DeadBytes, s.Grace, s.DedupWindow, s.DefaultRetries, s.MaxTimeout, s.MaxDelay, s.MaxMessage,
		s.MaxRetries, s.MaxParallelism, s.MaxQueues, s.MaxSchedules, s.MaxGroups, s.MaxEndpoints, s.GlobalParallelism,
	}
}

func (l messageLimits) settings() queue.Settings {
	return queue.Settings{
		EventAge: l.EventRetentionMs, EventBytes: l.EventBytes, DeadAge: l.DLQRetentionMs, DeadBytes: l.DLQBytes, Grace: l.GraceMs,
		DedupWindow: l.DedupWindowMs, DefaultRetries: l.DefaultRetries, MaxTimeout: l.MaxTimeoutMs, MaxDelay: l.MaxDelayMs, MaxMessage: l.MaxMessageSize,
		MaxRetries: l.MaxRetries, MaxParallelism: l.MaxParallelism, MaxQueues: l.MaxQueues, MaxSchedules: l.MaxSchedules,
		MaxGroups: l.MaxTopics, MaxEndpoints: l.MaxEndpointsPerTopic, GlobalParallelism: l.GlobalParallelism,
	}
}

// workflowLimits are workflow.Settings as /admin/settings/workflows shows them, in the units of
// messageLimits.
type workflowLimits struct {
	RunRetentionMs          int64 `json:"runRetentionMs"`
	RunBytes                int64 `json:"runBytes"`
	DLQRetentionMs          int64 `json:"dlqRetentionMs"`
	MaxInlineLog            int64 `json:"maxInlineLog"`
	StoredNotificationBytes int64 `json:"storedNotificationBytes"`
	MaxStoredNotifications  int   `json:"maxStoredNotifications"`
	MaxInvokeDepth          int   `json:"maxInvokeDepth"`
}

func workflowLimitsOf(s workflow.Settings) workflowLimits {
	return workflowLimits{s.EndedAge, s.EndedBytes, s.DeadAge, s.Inline, s.SavedBytes, s.MaxSaved, s.MaxDepth}
}

func (l workflowLimits) settings() workflow.Settings {
	return workflow.Settings{
		EndedAge: l.RunRetentionMs, EndedBytes: l.RunBytes, DeadAge: l.DLQRetentionMs, Inline: l.MaxInlineLog,
		SavedBytes: l.StoredNotificationBytes, MaxSaved: l.MaxStoredNotifications, MaxDepth: l.MaxInvokeDepth,
	}
}

func (s *Server) messageSettings() replicated[queue.Settings, messageLimits] {
	return replicated[queue.Settings, messageLimits]{s, func(v *fsm.View) queue.Settings { return v.Messages().Settings() }, messageLimitsOf, fsm.ConfigureMessages}
}

func (s *Server) workflowSettings() replicated[workflow.Settings, workflowLimits] {
	return replicated[workflow.Settings, workflowLimits]{s, func(v *fsm.View) workflow.Settings { return v.Workflows().Settings() }, workflowLimitsOf, fsm.ConfigureWorkflows}
}

// shownSettings are settings in the form of the admin API.
type shownSettings[S any] interface{ settings() S }

// negative returns the refusal of settings of which one is below 0, with its name; empty if none is.
func negative(settings any) string {
	for v, i := reflect.ValueOf(settings), 0; i < v.NumField(); i++ {
		if f := v.Field(i); f.CanInt() && f.Int() < 0 {
			return fmt.Sprintf("ERR %s must be 0 or greater (0 = unlimited), got %d", v.Type().Field(i).Tag.Get("json"), f.Int())
		}
	}
	return ""
}

// replicated are settings in the log, which the admin token reads and changes.
type replicated[S any, L shownSettings[S]] struct {
	server *Server
	now    func(*fsm.View) S
	show   func(S) L
	change *fsm.Operation[S, S]
}

// answer answers the settings.
func (r replicated[S, L]) answer(g *gin.Context) {
	log, err := r.log(g)
	if err != nil {
		r.server.failDatabase(g, err)
		return
	}
	now, err := r.read(g, log)
	r.server.respond(g, now, err)
}

// log returns the log of the database that the request names, of default if it names none. The error is
// fsm.ErrNoDatabase or an error of the read.
func (r replicated[S, L]) log(g *gin.Context) (fsm.Log, error) {
	db, number := g.Query("database"), uint64(0)
	if db == "" {
		return r.server.engine, nil
	}
	if _, err := r.server.engine.Read(g.Request.Context(), fsm.Reading{}, func(v *fsm.View) { number = v.Database(db) }); err != nil {
		return nil, err
	}
	if number == 0 {
		return nil, fsm.ErrNoDatabase
	}
	return fsm.InTenant(r.server.engine, db, number), nil
}

func (r replicated[S, L]) read(g *gin.Context, log fsm.Log) (l L, err error) {
	_, err = log.Read(g.Request.Context(), fsm.Reading{}, func(v *fsm.View) { l = r.show(r.now(v)) })
	return l, err
}

// configure changes the settings named in the body and leaves the others. Of two changes at the same moment the later
// may undo the earlier.
func (r replicated[S, L]) configure(g *gin.Context) {
	log, err := r.log(g)
	if err != nil {
		r.server.failDatabase(g, err)
		return
	}
	l, err := r.read(g, log)
	if err != nil {
		r.server.failOps(g, err, false)
		return
	}
	if !r.server.accept(g, &l) {
		return
	}
	if text := negative(l); text != "" {
		r.server.refuseOps(g, http.StatusBadRequest, text)
		return
	}
	now, err := fsm.Do(g.Request.Context(), log, r.change, l.settings())
	if err != nil {
		r.server.failDatabase(g, err)
		return
	}
	g.JSON(http.StatusOK, r.show(now))
}
