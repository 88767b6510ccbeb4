variable "name" {
  description = "The beginning of the roles' names."
  type        = string
  default     = "lockstep"
}

variable "plan_function_role_arn" {
  description = "The ARN of the plan function's role: template.yaml's output PlanRoleArn."
  type        = string
}

variable "apply_function_role_arn" {
  description = "The ARN of the apply function's role: template.yaml's output ApplyRoleArn."
  type        = string
}

variable "external_id" {
  description = "The external ID that the functions must present: template.yaml's parameter ExternalId."
  type        = string
  sensitive   = true

  validation {
    condition     = length(var.external_id) >= 16
    error_message = "An external ID that is short can be guessed: 16 characters at least."
  }
}

variable "repositories" {
  description = "The repositories, OWNER/NAME, whose pull requests may use the roles."
  type        = list(string)

  validation {
    condition     = length(var.repositories) > 0 && alltrue([for r in var.repositories : can(regex("^[^/*?]+/[^/*?]+$", r))])
    error_message = "Each repository is OWNER/NAME, without wildcards, and there is one at least."
  }
}

variable "plan_policy_arns" {
  description = "ARNs of the policies of plans, which should only allow to read."
  type        = set(string)
  default     = ["arn:aws:iam::aws:policy/ReadOnlyAccess"]
}

variable "plan_denied_actions" {
  description = "Actions denied to plans, whatever their policies allow, since they read secrets. Remove those that providers need to read their own resources, such as `ssm:GetParameter*` for parameters."
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
  description = "ARNs of the policies of applies: as few permissions as the configurations need."
  type        = set(string)
}

variable "secret_arns" {
  description = "ARNs of the secrets and parameters that environments in lockstep.hcl name: both roles may read them, whatever is denied to plans."
  type        = set(string)
  default     = []
}

variable "remote_state_arns" {
  description = "ARNs of the objects in S3 that `terraform_remote_state`, or an input in `lockstep.hcl`, reads, such as `arn:aws:s3:::acme-states/network/*`: both roles may read them, whatever is denied to plans."
  type        = set(string)
  default     = []
}

variable "permissions_boundary_arn" {
  description = "The ARN of the permissions boundary of both roles; null for none."
  type        = string
  default     = null
}

variable "tags" {
  description = "Tags of the roles."
  type        = map(string)
  default     = {}
}
