variable "name" {
  description = "Prefix of the roles' names."
  type        = string
  default     = "lockstep"
}

variable "plan_function_role_arn" {
  description = "ARN of the plan function's role: the output PlanRoleArn of the stack."
  type        = string
}

variable "apply_function_role_arn" {
  description = "ARN of the apply function's role: the output ApplyRoleArn of the stack."
  type        = string
}

variable "external_id" {
  description = "External ID that the functions must present: the parameter ExternalId of the stack."
  type        = string
  sensitive   = true

  validation {
    condition     = length(var.external_id) >= 16
    error_message = "An external ID that is short can be guessed: 16 characters at least."
  }
}

variable "repositories" {
  description = "Repositories, OWNER/NAME, whose pull requests may use the roles."
  type        = list(string)

  validation {
    condition     = length(var.repositories) > 0 && alltrue([for r in var.repositories : can(regex("^[^/*?]+/[^/*?]+$", r))])
    error_message = "Each repository is OWNER/NAME, without wildcards, and there is one at least."
  }
}

variable "plan_policy_arns" {
  description = "ARNs of the policies for plans. They should allow reading only."
  type        = set(string)
  default     = ["arn:aws:iam::aws:policy/ReadOnlyAccess"]
}

variable "plan_denied_actions" {
  description = "Actions that are denied to plans, even if their policies allow them, because they read secrets. Remove actions that providers need to read their own resources, such as `ssm:GetParameter*` for parameters."
  type        = list(string)
  default = [
    "dynamodb:BatchGetItem",
    "dynamodb:GetItem",
    "dynamodb:Query",
    "dynamodb:Scan",
    "kms:Decrypt",
    "s3:GetObject*",
    "secretsmanager:GetSecretValue",
    "sqs:ReceiveMessage",
    "ssm:GetParameter*",
    "sts:AssumeRole",
  ]
}

variable "apply_policy_arns" {
  description = "ARNs of the policies for applies. Give them only the permissions that the configurations need."
  type        = set(string)
}

variable "secret_arns" {
  description = "ARNs of the secrets and parameters that environments in lockstep.hcl name. Both roles may read them, even if the action is denied to plans."
  type        = set(string)
  default     = []
}

variable "remote_state_arns" {
  description = "ARNs of the objects in S3 that `terraform_remote_state` or inputs in `lockstep.hcl` read, such as `arn:aws:s3:::acme-states/network/*`. Both roles may read them, even if the action is denied to plans."
  type        = set(string)
  default     = []
}

variable "permissions_boundary_arn" {
  description = "ARN of a permissions boundary for both roles; null for none."
  type        = string
  default     = null
}

variable "tags" {
  description = "Tags of the roles."
  type        = map(string)
  default     = {}
}
