// Creates the task of a task type. Used by the engine, which gives one to every worker.
import type { TaskType } from '../../domain/task-type.ts';
import type { Task } from '../work/task.ts';
import { CarddataTask, type CarddataTaskDeps } from './carddata.ts';
import { PackageTask, type PackageTaskDeps } from './package.ts';
import { RealnameTask } from './realname.ts';

/** The dependencies of all tasks; each task takes what it needs. */
type TaskDeps = PackageTaskDeps & CarddataTaskDeps;

const MAKERS: Readonly<Record<TaskType, (deps: TaskDeps) => Task>> = {
  realname: (deps) => new RealnameTask(deps),
  carddata: (deps) => new CarddataTask(deps),
  package: (deps) => new PackageTask(deps),
};

export function makeTask(taskType: TaskType, deps: TaskDeps): Task {
  return MAKERS[taskType](deps);
}
