//go:build unix

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
)

func (c *cluster) auditPolicy() string { return filepath.Join(c.dir, "audit-policy.json") }

func (c *cluster) writeAuditPolicy() error {
	if c.audited == "" {
		return nil
	}
	policy, err := json.Marshal(map[string]any{
		"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": []string{"ResponseStarted"}, "rules": auditRules(c.audited),
	})
	if err != nil {
		return err
	}
	return os.WriteFile(c.auditPolicy(), policy, 0o644)
}

// everybody stands for all users in --audit.
const everybody = "*"

// auditRules are what is logged; the first rule that matches decides.
func auditRules(user string) []map[string]any {
	if user == everybody {
		return callRules()
	}
	users, answered := []string{user}, []string{"RequestReceived"}
	pods := []map[string]any{{"resources": []string{"pods"}}}
	return []map[string]any{
		// Pods that the user creates, with the name that the API server generates.
		{"level": "RequestResponse", "omitManagedFields": true, "users": users, "verbs": []string{"create"}, "resources": pods, "omitStages": answered},
		// Changes of pods by anybody, when they arrive and when they are answered: no stored version shows who made one.
		{"level": "Metadata", "verbs": []string{"patch", "update"}, "resources": pods},
		// All else that the user does.
		{"level": "Metadata", "users": users, "omitStages": answered},
		{"level": "None"},
	}
}

// callRules log the writes of pods, Jobs and statuses of Jobs by everybody, each once, when it is answered: the entry also
// says when the request arrived.
func callRules() []map[string]any {
	return []map[string]any{
		{
			"level": "Metadata", "verbs": []string{"create", "patch", "update", "delete"}, "omitStages": []string{"RequestReceived"},
			"resources": []map[string]any{{"resources": []string{"pods"}}, {"group": "batch", "resources": []string{"jobs", "jobs/status"}}},
		},
		{"level": "None"},
	}
}
