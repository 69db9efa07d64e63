// Package clitest runs verbs in tests, against a fake API server.
package clitest
