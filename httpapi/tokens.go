package httpapi

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/trireme-dev/trireme/fsm"
	"github.com/trireme-dev/trireme/fsm/acl"
)

// MinToken is the fewest bytes of a token that an operator chooses: a shorter one can be guessed.
const MinToken = 16

// maxChosenToken is the most bytes of such a token: it has to fit into a request's header.
const maxChosenToken = 1024

// messagesUser is the one user of /v2.
const messagesUser = "trireme"

// NewToken draws 256 random bits in letters that need no escaping anywhere.
func NewToken() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// NewMessagesToken draws a token of /v2 in the form that existing clients of workflows take apart: base64 of a JSON
// object with UserID and Password.
func NewMessagesToken() string {
	return base64.StdEncoding.EncodeToString([]byte(`{"UserID":"` + messagesUser + `","Password":"` + NewToken() + `"}`))
}

// clusterTokens are the tokens that belong to no database, by the names of /admin/tokens.
var clusterTokens = []struct {
	name string
	role acl.Role
	draw func() string
}{
	{"admin", acl.Admin, NewToken},
	{"messages", acl.Messages, NewMessagesToken},
	{"messages-readonly", acl.MessagesReadOnly, NewMessagesToken},
}

// rotation is the body of a rotation. A token that is not given is drawn.
type rotation struct {
	OverlapMs     int64  `json:"overlapMs"`
	Token         string `json:"token"`
	ReadOnlyToken string `json:"readonlyToken"`
}

// tokenView is a token as /admin/tokens shows it: never the token itself, except in the answer to its rotation.
type tokenView struct {
	Name        string `json:"name"`
	Database    string `json:"database,omitempty"`
	Token       string `json:"token,omitempty"`
	FormerUntil string `json:"formerUntil,omitempty"`
}

// tokenName returns the name of a role's token under /admin/tokens; those of databases are called by their variables' names.
func tokenName(role acl.Role) string {
	for _, one := range clusterTokens {
		if one.role == role {
			return one.name
		}
	}
	if role == acl.ReadOnly {
		return "readonly-token"
	}
	return "token"
}

// instant returns cluster time in a reply, empty for none.
func instant(unixms int64) string {
	if unixms == 0 {
		return ""
	}
	return time.UnixMilli(unixms).UTC().Format(time.RFC3339Nano)
}

// listTokens answers with the tokens of the cluster, and with those of databases that have a former token in force.
func (s *Server) listTokens(g *gin.Context) {
	var former []fsm.FormerToken
	_, err := s.engine.Read(g.Request.Context(), fsm.Reading{}, func(v *fsm.View) { former = v.FormerTokens() })
	list := make([]tokenView, len(clusterTokens))
	for i, one := range clusterTokens {
		list[i].Name = one.name
	}
	for _, f := range former {
		until := instant(f.Until)
		if f.Database != "" {
			list = append(list, tokenView{Name: tokenName(f.Role), Database: f.Database, FormerUntil: until})
			continue
		}
		for i := range clusterTokens {
			if list[i].Name == tokenName(f.Role) {
				list[i].FormerUntil = until
			}
		}
	}
	s.respond(g, gin.H{"tokens": list}, err)
}

func (s *Server) rotateToken(g *gin.Context) {
	for _, one := range clusterTokens {
		if one.name != g.Param("name") {
			continue
		}
		var asked rotation
		switch {
		case !s.accept(g, &asked):
		case asked.ReadOnlyToken != "":
			s.refuseOps(g, http.StatusBadRequest, "ERR readonlyToken is for the tokens of a database: this is token "+one.name)
		case asked.Token == "":
			asked.Token = one.draw()
			fallthrough
		default:
			n := fsm.TokenRotation{Overlap: asked.OverlapMs}
			n.Tokens[one.role] = acl.DigestOf(asked.Token)
			if until, ok := s.rotate(g, n, asked.Token); ok {
				g.JSON(http.StatusOK, tokenView{Name: one.name, Token: asked.Token, FormerUntil: instant(until)})
			}
		}
		return
	}
	s.unknownToken(g)
}

func (s *Server) unknownToken(g *gin.Context) {
	s.refuseOps(g, http.StatusNotFound, "ERR there is no such token: those of the cluster are admin, messages and messages-readonly; /admin/databases/NAME/rotate-tokens replaces those of a database")
}

func (s *Server) rotateDatabaseTokens(g *gin.Context) {
	var asked rotation
	if !s.accept(g, &asked) {
		return
	}
	for _, token := range []*string{&asked.Token, &asked.ReadOnlyToken} {
		if *token == "" {
			*token = NewToken()
		}
	}
	n := fsm.TokenRotation{Database: g.Param("name"), Overlap: asked.OverlapMs}
	n.Tokens[acl.Standard], n.Tokens[acl.ReadOnly] = acl.DigestOf(asked.Token), acl.DigestOf(asked.ReadOnlyToken)
	if until, ok := s.rotate(g, n, asked.Token, asked.ReadOnlyToken); ok {
		g.JSON(http.StatusOK, gin.H{"name": n.Database, "token": asked.Token, "readonlyToken": asked.ReadOnlyToken, "formerUntil": instant(until)})
	}
}

// rotate puts new tokens in force unless they are refused. n holds their digests without salt.
func (s *Server) rotate(g *gin.Context, n fsm.TokenRotation, tokens ...string) (formerUntil int64, ok bool) {
	if !s.acceptTokens(g, tokens) {
		return 0, false
	}
	s.engine.Local(func(v *fsm.View) { n.Salt = v.TokenSalt() })
	n.Tokens = n.Tokens.Salted(n.Salt)
	out, err := fsm.Do(g.Request.Context(), s.engine, fsm.RotateTokens, n)
	if err != nil {
		s.failDatabase(g, err)
		return 0, false
	}
	s.log.Info(fsm.RotateTokens.Name, "database", n.Database, "token", g.Param("name"), "former_until", instant(out.Until), "from", g.Request.RemoteAddr)
	g.Header("Cache-Control", "no-store")
	return out.Until, true
}

// acceptTokens refuses new tokens that are too short, too long, not fit for a header, or in force already.
func (s *Server) acceptTokens(g *gin.Context, tokens []string) bool {
	for _, token := range tokens {
		if len(token) < MinToken || len(token) > maxChosenToken {
			s.refuseOps(g, http.StatusBadRequest, fmt.Sprintf("ERR a token must have %d to %d bytes, got %d; without one the node generates it", MinToken, maxChosenToken, len(token)))
			return false
		}
		for i := range len(token) {
			if token[i] <= ' ' || token[i] > '~' {
				s.refuseOps(g, http.StatusBadRequest, "ERR a token must consist of printable ASCII characters without spaces, because it is sent in a header")
				return false
			}
		}
	}
	known := false
	_, err := s.engine.Read(g.Request.Context(), fsm.Reading{}, func(v *fsm.View) {
		for _, token := range tokens {
			b := acl.ParseBearer([]byte(token))
			known = known || v.Role(b.Digest) != acl.NoRole || v.LoginBearer(&b).Known()
		}
	})
	switch {
	case err != nil:
		s.failOps(g, err, false)
	case known:
		s.failDatabase(g, fsm.ErrSameToken)
	}
	return err == nil && !known
}

func (s *Server) endFormerToken(g *gin.Context) {
	for _, one := range clusterTokens {
		if one.name == g.Param("name") {
			s.endOverlap(g, fsm.TokenRole{Role: one.role}, tokenView{Name: one.name})
			return
		}
	}
	s.unknownToken(g)
}

func (s *Server) endFormerTokens(g *gin.Context) {
	name := g.Param("name")
	s.endOverlap(g, fsm.TokenRole{Database: name}, gin.H{"name": name})
}

func (s *Server) endOverlap(g *gin.Context, n fsm.TokenRole, reply any) {
	if _, err := fsm.Do(g.Request.Context(), s.engine, fsm.EndTokenOverlap, n); err != nil {
		s.failDatabase(g, err)
		return
	}
	s.log.Info(fsm.EndTokenOverlap.Name, "database", n.Database, "token", g.Param("name"), "from", g.Request.RemoteAddr)
	g.JSON(http.StatusOK, reply)
}
