package httpapi

import (
	"fmt"
	"net/http"
	"reflect"

	"github.com/gin-gonic/gin"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/keyspace"
	"github.com/trireme-dev/trireme/fsm/queue"
	"github.com/trireme-dev/trireme/fsm/workflow"
)

// limits are fsm.Settings as /admin/settings shows them; 0 = unlimited.
type limits struct {
	MaxMemory         int64 `json:"maxMemory"`
	DailyRequestLimit int64 `json:"dailyRequestLimit"`
	MaxKeySize        int64 `json:"maxKeySize"`
	MaxRecordSize     int64 `json:"maxRecordSize"`
	MaxPending        int64 `json:"maxPending"`
	MaxRequestWork    int64 `json:"maxRequestWork"`
	MaxScriptSteps    int64 `json:"maxScriptSteps"`
	// MaxMemoryPolicy says which keys make room at MaxMemory, by Redis's names.
	MaxMemoryPolicy string `json:"maxMemoryPolicy"`
	// TenantWorkPercent and TenantScriptPercent are the parts of MaxRequestWork and MaxScriptSteps that a request may use
	// if it writes to a database other than default.
	TenantWorkPercent   int64 `json:"tenantWorkPercent"`
	TenantScriptPercent int64 `json:"tenantScriptPercent"`
	// TenantMemoryPercent is the part of MaxMemory that a database other than default may use if it has no limit of its own.
	TenantMemoryPercent int64 `json:"tenantMemoryPercent"`
}

func limitsOf(s fsm.Settings) limits {
	work, script := s.TenantWork()
	return limits{s.MaxMemory, s.DailyLimit, s.MaxKey, s.MaxRecord, s.MaxPending, s.WorkSetting(), s.ScriptSetting(), s.Policy.String(), work, script, s.TenantMemory()}
}

func (l limits) settings() fsm.Settings {
	bounds := command.Limits{MaxKey: l.MaxKeySize, MaxRecord: l.MaxRecordSize, MaxPending: l.MaxPending}
	bounds.SetWork(l.MaxRequestWork, l.MaxScriptSteps)
	policy, _ := keyspace.ParsePolicy(l.MaxMemoryPolicy)
	s := fsm.Settings{MaxMemory: l.MaxMemory, DailyLimit: l.DailyRequestLimit, Policy: policy, Limits: bounds}
	s.SetTenantWork(l.TenantWorkPercent, l.TenantScriptPercent)
	s.SetTenantMemory(l.TenantMemoryPercent)
	return s
}

func (l limits) fault() string {
	if _, known := keyspace.ParsePolicy(l.MaxMemoryPolicy); !known {
		return "ERR maxMemoryPolicy must be one of " + keyspace.PolicyNames
	}
	for _, percent := range []int64{l.TenantWorkPercent, l.TenantScriptPercent, l.TenantMemoryPercent} {
		if percent < 1 || percent > 100 {
			return "ERR tenantWorkPercent, tenantScriptPercent and tenantMemoryPercent must be from 1 to 100"
		}
	}
	return negative(l)
}

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

func (l messageLimits) fault() string { return negative(l) }

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

func (l workflowLimits) fault() string { return negative(l) }

func (s *Server) clusterSettings() replicated[fsm.Settings, limits] {
	return replicated[fsm.Settings, limits]{s, func(v *fsm.View) fsm.Settings { return v.Settings() }, limitsOf, fsm.Configure}
}

func (s *Server) messageSettings() replicated[queue.Settings, messageLimits] {
	return replicated[queue.Settings, messageLimits]{s, func(v *fsm.View) queue.Settings { return v.Messages().Settings() }, messageLimitsOf, fsm.ConfigureMessages}
}

func (s *Server) workflowSettings() replicated[workflow.Settings, workflowLimits] {
	return replicated[workflow.Settings, workflowLimits]{s, func(v *fsm.View) workflow.Settings { return v.Workflows().Settings() }, workflowLimitsOf, fsm.ConfigureWorkflows}
}

// shownSettings are settings in the form of the admin API.
type shownSettings[S any] interface {
	settings() S
	// fault returns the refusal of settings that can't be; empty if they can.
	fault() string
}

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
	if _, now, ok := r.read(g); ok {
		g.JSON(http.StatusOK, now)
	}
}

// read returns the settings of the database that the request names, of default if it names none, and the log of that
// database. If they can't be read, it answers the request and returns false.
func (r replicated[S, L]) read(g *gin.Context) (log fsm.Log, now L, ok bool) {
	log = r.server.engine
	if db := g.Query("database"); db != "" {
		number := uint64(0)
		_, err := log.Read(g.Request.Context(), fsm.Reading{}, func(v *fsm.View) { number = v.Database(db) })
		if err == nil && number == 0 {
			err = fsm.ErrNoDatabase
		}
		if err != nil {
			r.server.failDatabase(g, err)
			return nil, now, false
		}
		log = fsm.InTenant(r.server.engine, db, number)
	}
	_, err := log.Read(g.Request.Context(), fsm.Reading{}, func(v *fsm.View) { now = r.show(r.now(v)) })
	if err != nil {
		r.server.failOps(g, err, false)
	}
	return log, now, err == nil
}

// configure changes the settings named in the body and leaves the others. Of two changes at the same moment the later
// may undo the earlier.
func (r replicated[S, L]) configure(g *gin.Context) {
	log, l, ok := r.read(g)
	if !ok || !r.server.accept(g, &l) {
		return
	}
	if text := l.fault(); text != "" {
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
