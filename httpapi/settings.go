package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"trireme/fsm"
	"trireme/fsm/queue"
)

// messageLimits are queue.Settings as /admin/settings/messages shows them: times in
// milliseconds, sizes in bytes, 0 is none. Limits that a publisher can exceed have the
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

// messageSettingsRoutes are those of /admin/settings/messages.
func (s *Server) messageSettingsRoutes(g *gin.RouterGroup) {
	g.GET("/settings/messages", func(g *gin.Context) {
		now, err := s.messageLimits(g)
		s.tell(g, now, err)
	})
	g.POST("/settings/messages", s.configureMessages)
}

func (s *Server) messageLimits(g *gin.Context) (l messageLimits, err error) {
	_, err = s.engine.Read(g.Request.Context(), fsm.Reading{}, func(v *fsm.View) {
		l = messageLimitsOf(v.Messages().Settings())
	})
	return l, err
}

// configureMessages changes the settings named in the body and leaves the others. Of two
// changes at the same moment the later one may undo the earlier: an operator's call.
func (s *Server) configureMessages(g *gin.Context) {
	l, err := s.messageLimits(g)
	if err != nil {
		s.fail(g, err, false)
		return
	}
	if !s.accept(g, &l) {
		return
	}
	if l.negative() {
		s.refuseFixed(g, http.StatusBadRequest, "ERR a setting can't be negative, 0 is none")
		return
	}
	now, err := fsm.Do(g.Request.Context(), s.engine, fsm.ConfigureMessages, l.settings())
	if err != nil {
		s.fail(g, err, true)
		return
	}
	g.JSON(http.StatusOK, messageLimitsOf(now))
}

func (l *messageLimits) negative() bool {
	return min(l.EventRetentionMs, l.EventBytes, l.DLQRetentionMs, l.DLQBytes, l.GraceMs, l.DedupWindowMs, l.MaxTimeoutMs, l.MaxDelayMs, l.MaxMessageSize) < 0 ||
		min(l.DefaultRetries, l.MaxRetries, l.MaxParallelism, l.MaxQueues, l.MaxSchedules, l.MaxTopics, l.MaxEndpointsPerTopic, l.GlobalParallelism) < 0
}
