package httpapi

import (
	_ "embed"
	"net/http"

	"github.com/gin-gonic/gin"
)

// openAPI describes the fixed paths, in OpenAPI 3.1. The tests hold every reply that
// they get against it.
//
//go:embed openapi.json
var openAPI []byte

func describe(g *gin.Context) { g.Data(http.StatusOK, "application/json", openAPI) }
