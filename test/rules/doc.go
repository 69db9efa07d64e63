// Package rules has what must hold between two versions of a Job and its pods, as questions about stored objects: which
// rules of its policies match, what its counts and conditions must be after those of the version before.
//
// It applies the rules of the API in the plainest way, and shares no code with the controller but index sets, so that a
// mistake of the controller shows. test/checker asks them about every write in the virtual cluster, and excuses what the
// controller could not know; test/invariants asks them about the versions that an API server has stored, where nothing
// shows what the controller knew. test/oracle/model is independent of both.
package rules
