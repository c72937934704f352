package socket

import "syscall"

const corkOption = syscall.TCP_CORK
