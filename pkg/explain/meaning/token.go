package meaning

import "github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"

// generatedToken matches the name of a Secret that Kubernetes generated for a ServiceAccount, before 1.24.
var generatedToken = lazyregexp.New(`^(.+)-token-[a-z0-9]{5}$`)

// AccountOfToken returns the ServiceAccount whose generated token a Secret of this name was, "" for other names.
func AccountOfToken(secret string) string { return generatedToken.Group(secret) }
