package httpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
)

// databaseView is a database as /admin/databases shows it. Path is the path at which its commands are served. Tokens
// are only in the answer of the request that made them.
type databaseView struct {
	Name          string `json:"name"`
	Path          string `json:"path"`
	CreatedAt     string `json:"createdAt,omitempty"`
	Keys          int    `json:"keys"`
	Bytes         int64  `json:"bytes"`
	Users         int    `json:"users"`
	MaxMemory     int64  `json:"maxMemory,omitempty"` // in lists; none is 0
	Quarantined   uint64 `json:"quarantinedSince,omitempty"`
	Token         string `json:"token,omitempty"`
	ReadOnlyToken string `json:"readonlyToken,omitempty"`
}

func viewDatabase(d fsm.DatabaseInfo) databaseView {
	v := databaseView{Name: d.Name, Path: "/db/" + d.Name, Keys: d.Keys, Bytes: d.Bytes, Users: d.Users, Quarantined: d.Quarantined}
	if d.Created > 0 {
		v.CreatedAt = time.UnixMilli(d.Created).UTC().Format(time.RFC3339)
	}
	return v
}

// maxListedDatabases is the number of databases of one page.
const maxListedDatabases = 1000

// listDatabases answers with a page of the databases by name: ?count=N limits their number, and ?cursor=C goes on where a page has
// ended with that cursor. With ?order=memory it answers with those that take most memory, the largest first, and no cursor.
func (s *Server) listDatabases(g *gin.Context) {
	count := maxListedDatabases
	if text, given := g.GetQuery("count"); given {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxListedDatabases {
			s.refuseOps(g, http.StatusBadRequest, "ERR count is 1 to "+strconv.Itoa(maxListedDatabases))
			return
		}
		count = n
	}
	order, cursor := g.Query("order"), g.Query("cursor")
	switch {
	case order != "" && order != "name" && order != "memory":
		s.refuseOps(g, http.StatusBadRequest, "ERR order is name or memory")
		return
	case order == "memory" && cursor != "":
		s.refuseOps(g, http.StatusBadRequest, "ERR order=memory has one page: give a larger count instead of a cursor")
		return
	}
	list := []databaseView{}
	page := gin.H{}
	_, err := s.engine.Read(g.Request.Context(), fsm.Reading{Long: order == "memory"}, func(v *fsm.View) { // it looks at every database
		list = list[:0]
		var found []fsm.DatabaseInfo
		more := false
		if order == "memory" {
			found = v.LargestDatabases(count)
		} else {
			found, more = v.DatabasesAfter(cursor, count)
		}
		for _, d := range found {
			one := viewDatabase(d)
			settings, _ := v.DatabaseSettings(d.Name)
			one.MaxMemory = settings.Limit
			list = append(list, one)
		}
		if delete(page, "cursor"); more {
			page["cursor"] = found[len(found)-1].Name
		}
	})
	page["databases"] = list
	s.respond(g, page, err)
}

func (s *Server) createDatabase(g *gin.Context) {
	var asked struct {
		Name string `json:"name"`
	}
	if s.accept(g, &asked) {
		s.makeTokens(g, fsm.CreateDatabase, asked.Name, http.StatusCreated)
	}
}

func (s *Server) resetPassword(g *gin.Context) {
	s.makeTokens(g, fsm.ResetTokens, g.Param("name"), http.StatusOK)
}

// makeTokens has an operation give tokens to a database, and answers with them.
func (s *Server) makeTokens(g *gin.Context, op *fsm.Operation[fsm.DatabaseTokens, fsm.DatabaseInfo], name string, status int) {
	v, err := s.newDatabase(g.Request.Context(), op, name)
	if err != nil {
		s.failDatabase(g, err)
		return
	}
	s.log.Info(op.Name, "database", v.Name, "from", g.Request.RemoteAddr)
	g.Header("Cache-Control", "no-store")
	g.JSON(status, v)
}

// newDatabase draws two tokens for a database, and returns it with the tokens.
func (s *Server) newDatabase(ctx context.Context, op *fsm.Operation[fsm.DatabaseTokens, fsm.DatabaseInfo], name string) (v databaseView, err error) {
	standard, readOnly := NewToken(), NewToken()
	var salt acl.Salt
	s.engine.Local(func(v *fsm.View) { salt = v.TokenSalt() })
	info, err := fsm.Do(ctx, s.engine, op, fsm.DatabaseTokens{
		Name: name, Standard: acl.DigestOf(standard).Salted(salt), ReadOnly: acl.DigestOf(readOnly).Salted(salt), Salt: salt,
	})
	if err != nil {
		return v, err
	}
	v = viewDatabase(info)
	v.Token, v.ReadOnlyToken = standard, readOnly
	return v, nil
}

func (s *Server) deleteDatabase(g *gin.Context) {
	info, err := fsm.Do(g.Request.Context(), s.engine, fsm.DeleteDatabase, fsm.DatabaseName{Name: g.Param("name")})
	if err != nil {
		s.failDatabase(g, err)
		return
	}
	s.log.Info(fsm.DeleteDatabase.Name, "database", info.Name, "keys", info.Keys, "from", g.Request.RemoteAddr)
	g.JSON(http.StatusOK, viewDatabase(info))
}

// databaseStatus are the answers to the refusals of operations on databases.
var databaseStatus = []struct {
	err    error
	status int
}{
	{fsm.ErrDatabaseName, http.StatusBadRequest},
	{fsm.ErrNoDatabase, http.StatusNotFound},
	{fsm.ErrDatabaseTaken, http.StatusConflict},
	{fsm.ErrDatabases, http.StatusConflict},
	{fsm.ErrKeepDefault, http.StatusConflict},
	{fsm.ErrUsedMessages, http.StatusConflict},
	{fsm.ErrRecordLevel, http.StatusConflict},
	{fsm.ErrBadRecords, http.StatusBadRequest},
	{fsm.ErrRecordMemory, http.StatusInsufficientStorage},
	{fsm.ErrNotQuarantined, http.StatusConflict},
	{fsm.ErrRestoring, http.StatusConflict},
	{fsm.ErrNotStaged, http.StatusConflict},
	{fsm.ErrTokenOverlap, http.StatusBadRequest},
	{fsm.ErrTokens, http.StatusBadRequest},
	{fsm.ErrSameToken, http.StatusConflict},
	{fsm.ErrTokenSalt, http.StatusConflict},
}

func (s *Server) failDatabase(g *gin.Context, err error) {
	var refused *fsm.Error
	for _, one := range databaseStatus {
		if errors.Is(err, one.err) && errors.As(err, &refused) {
			text := refused.Text
			if name := cmp.Or(g.Param("name"), g.Query("database")); name != "" && errors.Is(err, fsm.ErrNoDatabase) {
				text = fmt.Sprintf("there is no database %q", name)
			}
			s.refuseOps(g, one.status, "ERR "+text)
			return
		}
	}
	s.failOps(g, err, true)
}

// databaseSettings holds the settings of one database, as /admin/databases/NAME/settings shows them.
type databaseSettings struct {
	// MaxMemory is the limit of its memory in bytes (0 = only the cluster's limit). Nil is the part of the cluster's
	// limit that databases without a limit of their own have. InForce is the resulting limit.
	MaxMemory *int64 `json:"maxMemory"`
	InForce   int64  `json:"maxMemoryInForce"`
	// RequestRate is the number of requests that each node answers in a second, RequestBurst the number that it answers
	// at once; both are left out if there is no limit.
	RequestRate  int64 `json:"requestRate,omitempty"`
	RequestBurst int64 `json:"requestBurst,omitempty"`
}

func databaseSettingsOf(n fsm.DatabaseSettings) databaseSettings {
	l := databaseSettings{InForce: n.Limit, RequestRate: n.RequestRate, RequestBurst: n.RequestBurst}
	if n.MaxMemory != fsm.ShareOfMemory {
		l.MaxMemory = &n.MaxMemory
	}
	return l
}

func (s *Server) databaseSettings(g *gin.Context) {
	var n fsm.DatabaseSettings
	found := false
	_, err := s.engine.Read(g.Request.Context(), fsm.Reading{}, func(v *fsm.View) { n, found = v.DatabaseSettings(g.Param("name")) })
	if err == nil && !found {
		err = fsm.ErrNoDatabase
	}
	if err != nil {
		s.failDatabase(g, err)
		return
	}
	g.JSON(http.StatusOK, databaseSettingsOf(n))
}

// configureDatabase changes the settings that the body names: null takes a limit away.
func (s *Server) configureDatabase(g *gin.Context) {
	var asked struct {
		MaxMemory    json.RawMessage `json:"maxMemory"`
		RequestRate  json.RawMessage `json:"requestRate"`
		RequestBurst json.RawMessage `json:"requestBurst"`
	}
	if !s.accept(g, &asked) {
		return
	}
	n := fsm.DatabaseSettings{Name: g.Param("name"), MaxMemory: fsm.ShareOfMemory}
	for _, one := range []struct {
		given   json.RawMessage
		to      *int64
		changes byte
		rule    string
	}{
		{asked.MaxMemory, &n.MaxMemory, fsm.ChangeMemory, "maxMemory must be a number of bytes (0 = unlimited), or null for the part of the cluster's limit"},
		{asked.RequestRate, &n.RequestRate, fsm.ChangeRate, "requestRate must be a number of requests a second on each node (0 or null = unlimited)"},
		{asked.RequestBurst, &n.RequestBurst, fsm.ChangeRate, "requestBurst must be a number of requests (0 or null = as many as requestRate), beside requestRate"},
	} {
		if one.given == nil {
			continue
		}
		n.Changes |= one.changes
		unset := string(one.given) == "null"
		value, err := strconv.ParseInt(string(one.given), 10, 64)
		if !unset && (err != nil || value < 0) || one.to == &n.RequestBurst && asked.RequestRate == nil {
			s.refuseOps(g, http.StatusBadRequest, "ERR "+one.rule)
			return
		}
		if !unset {
			*one.to = value
		}
	}
	if n.Changes == 0 {
		s.databaseSettings(g)
		return
	}
	now, err := fsm.Do(g.Request.Context(), s.engine, fsm.ConfigureDatabase, n)
	if err != nil {
		s.failDatabase(g, err)
		return
	}
	s.log.Info(fsm.ConfigureDatabase.Name, "database", now.Name, "max_memory", now.Limit, "request_rate", now.RequestRate, "request_burst", now.RequestBurst, "from", g.Request.RemoteAddr)
	g.JSON(http.StatusOK, databaseSettingsOf(now))
}

// quarantine makes the cluster go on without a database, beginning with the entry before which its nodes wait.
func (s *Server) quarantine(g *gin.Context) {
	order, err := s.admin.Quarantine(g.Request.Context(), g.Param("name"))
	if err != nil {
		s.failOps(g, err, true)
		return
	}
	s.log.Warn(fsm.Quarantine.Name, "database", order.Database, "index", order.Index, "from", g.Request.RemoteAddr)
	g.JSON(http.StatusOK, gin.H{"database": order.Database, "index": order.Index})
}

// release ends the quarantine of a database.
func (s *Server) release(g *gin.Context) {
	info, err := fsm.Do(g.Request.Context(), s.engine, fsm.Release, fsm.DatabaseName{Name: g.Param("name")})
	if err != nil {
		s.failDatabase(g, err)
		return
	}
	s.log.Warn(fsm.Release.Name, "database", info.Name, "from", g.Request.RemoteAddr)
	g.JSON(http.StatusOK, viewDatabase(info))
}
