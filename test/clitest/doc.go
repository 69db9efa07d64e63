// Package clitest runs verbs in tests, against an API server that is a fake.
package clitest
