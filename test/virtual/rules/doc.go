// Package rules checks what must hold between two stored versions of a Job and its pods: which rules of the Job's
// policies match, and which counts and conditions may follow the previous ones.
//
// It applies the rules of the API in the simplest way, and shares no code with the controller except index sets, so that
// it exposes the controller's mistakes. test/virtual/checker applies it to every write in the virtual cluster, and excuses what
// the controller could not know. test/cluster/invariants applies it to the versions stored by an API server, which do not show
// the controller's knowledge. test/virtual/oracle/model is independent of both.
package rules
